import { accumulate, readInts, zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CX01–CX19: forks, joins and isolation. */
export const acrossStreams: Programs = {
  CX01: (s) => s.during(() => s.s1.wait(s.event())),
  async CX02(s) {
    const stream = s.is('own') ? s.s1 : s.s2;
    if (s.is('pending')) s.spin(stream, 100);
    const event = stream.record();
    if (s.is('complete')) await event.done();
    s.during(() => s.s1.wait(event));
  },
  CX03: (s) => s.during(() => s.s1.wait(s.s2.record())),
  CX04(s) {
    s.begin();
    s.put(
      'call',
      s.number(() => s.link(s.s1, s.s2)),
    );
    s.put('after2', s.status(s.s2));
    s.put('id', s.s1.captureId === s.s2.captureId ? 'same' : 'another');
    s.finish();
  },
  async CX05(s) {
    s.spin(s.s2, 400);
    s.begin();
    s.k();
    s.put(
      'call',
      s.number(() => s.link(s.s1, s.s2)),
    );
    s.k(s.s2);
    s.link(s.s2, s.s1);
    s.finish();
    s.launch();
    await s.s1.synchronize();
    s.put('replay waits', s.s2.isIdle() ? 'yes' : 'no');
  },
  CX06: diamond,
  CX07(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    s.finish();
  },
  CX08(s) {
    s.begin();
    s.k();
    s.link(s.s1, s.s2);
    if (s.is('wait and record')) s.s2.record();
    s.finish();
  },
  CX09(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.put('after2', s.status(s.s2));
    s.finish();
  },
  CX10(s) {
    s.begin();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    const early = s.s2.record();
    s.k(s.s2);
    s.s1.wait(early);
    s.finish();
  },
  CX11(s) {
    s.forkAndJoin();
    s.k(s.s2);
    s.finish();
  },
  CX12(s) {
    s.begin();
    s.k();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    s.link(s.s2, s.s3);
    s.k(s.s3);
    if (s.is('S1 S2 S3 S1')) {
      s.link(s.s3, s.s1);
    } else {
      s.link(s.s3, s.s2);
      s.link(s.s2, s.s1);
    }
    s.finish();
  },
  CX13(s) {
    s.forkAndJoin();
    s.put('frontier', s.s1.captureDependencies?.length ?? 0);
    s.finish();
  },
  CX14(s) {
    s.begin();
    s.k();
    s.put(
      'call',
      s.number(() => s.link(s.s1, s.s1)),
    );
    s.k();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    s.link(s.s2, s.s2);
    s.k(s.s2);
    s.link(s.s2, s.s1);
    s.finish();
  },
  CX15(s) {
    s.begin();
    s.k();
    s.link(s.s1, s.s2);
    s.k(s.s2);
    const joined = s.s2.record();
    s.s1.wait(joined);
    s.put(
      'call',
      s.number(() => s.s1.wait(joined)),
    );
    s.k();
    s.finish();
  },
  CX16(s) {
    s.begin();
    s.begin(s.s2);
    const event = s.s2.record();
    s.put(
      'call',
      s.number(() => s.s1.wait(event)),
    );
    s.put('after2', s.status(s.s2));
    s.finish();
    s.put('end2', s.end(s.s2));
  },
  CX17(s) {
    s.begin();
    const event = s.s1.record();
    s.put(
      'record',
      s.number(() => s.s3.record(event)),
    );
    s.put(
      'call',
      s.number(() => (s.is('query') ? event.isDone() : s.s1.wait(event))),
    );
    s.finish();
  },
  CX18(s) {
    s.begin();
    s.k();
    const event = s.s1.record();
    s.s2.wait(event);
    s.k(s.s2);
    s.s2.record(event);
    s.put(
      'call',
      s.number(() => s.s1.wait(event)),
    );
    s.finish();
  },
  CX19(s) {
    s.begin();
    s.k();
    const fork = s.s1.record();
    s.s2.wait(fork);
    fork.dispose();
    s.k(s.s2);
    const join = s.s2.record();
    s.s1.wait(join);
    s.put(
      'call',
      s.number(() => join.dispose()),
    );
    s.finish();
  },
};

async function diamond(s: Scene): Promise<void> {
  const [a, b] = [zeros(s.test, s.s1, 1), zeros(s.test, s.s1, 1)];
  s.begin();
  accumulate(s.test, s.s1, a);
  s.link(s.s1, s.s2);
  accumulate(s.test, s.s1, a);
  accumulate(s.test, s.s2, b);
  s.link(s.s2, s.s1);
  accumulate(s.test, s.s1, a);
  s.finish();
  const executable = s.graph.instantiateSync();
  const added: number[] = [];
  for (let before = 0; added.length < 3; ) {
    executable.launch(s.s1);
    const values = [...(await readInts(s.s1, a)), ...(await readInts(s.s1, b))];
    const now = values.reduce((total, value) => total + value);
    added.push(now - before);
    before = now;
  }
  s.put('added', added.join(' '));
}
