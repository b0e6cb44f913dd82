import { setTimeout as delay } from 'node:timers/promises';
import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CI: what a broken capture answers. */
export const invalidation: Programs = {
  CI01(s) {
    const event = s.event();
    s.breakCapture();
    s.put(
      'kernel',
      s.number(() => s.k()),
    );
    s.put(
      'record',
      s.number(() => s.s1.record()),
    );
    s.put(
      'wait',
      s.number(() => s.s1.wait(event)),
    );
    s.put('end', s.end());
  },
  CI02(s) {
    s.breakCapture();
    s.put(
      'call',
      s.number(() => s.begin()),
    );
    s.put('end', s.end());
  },
  CI03(s) {
    s.breakCapture();
    s.put(
      'synchronise',
      s.number(() => s.s1.synchronizeSync()),
    );
    s.put(
      'query',
      s.number(() => s.s1.isIdle()),
    );
    s.put(
      'malloc',
      s.number(() => s.test.device.alloc(256, { stream: s.s3 }).dispose()),
    );
    s.put('end', s.end());
  },
  CI04(s) {
    s.breakCapture();
    s.put('after', s.status());
    s.put(
      'info',
      s.number(() => s.s1.captureId),
    );
    s.put('end', s.end());
  },
  CI05(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.put(
      'call',
      s.number(() => s.s2.synchronizeSync()),
    );
    s.put('after2', s.status(s.s2));
    s.finish();
  },
  async CI07(s) {
    let destroyed = 0;
    const registry = new FinalizationRegistry(() => {
      destroyed += 1;
    });
    s.breakCaptureAfter(() => noteUserObject(s, registry));
    await collect(() => false, 3);
    s.put('before', destroyed);
    s.put('end', s.end());
    await collect(() => destroyed > 0, 300);
    s.put('destructor', destroyed);
  },
};

// Our user objects are objects of JavaScript, such as the callback of a captured `notify`.
function noteUserObject(s: Scene, registry: FinalizationRegistry<number>): void {
  const callback = () => undefined;
  registry.register(callback, 0);
  s.s1.notify(callback);
}

async function collect(isEnough: () => boolean, rounds: number): Promise<void> {
  for (let round = 0; round < rounds && !isEnough(); round += 1) {
    globalThis.gc?.();
    await delay(10);
  }
}
