import { existsSync } from 'node:fs';
import { probeSync } from '../../../src/index.js';
import { accumulate, readInts, zeros } from '../../makers/test-kernels.js';
import { NotPlayable, type Scene } from '../scene.js';
import { hostFunction } from './graph-parts.js';
import type { Programs } from './program.js';

/** Rows CE, CH and CD. */
export const withoutCapture: Programs = {
  async CE01(s) {
    const timing = !s.is('without timing');
    const [first, second] = [s.event(timing), s.event(timing)];
    if (!s.is('never recorded')) {
      s.s1.record(first);
      s.spin(s.s1, s.is('not complete') ? 200 : 10);
      s.s1.record(second);
      if (!s.is('not complete')) await s.s1.synchronize();
    }
    const order = s.is('reversed') ? ([second, first] as const) : ([first, second] as const);
    let milliseconds = 0;
    s.put(
      'call',
      s.number(() => {
        milliseconds = s.elapsed(...order);
      }),
    );
    s.put('time', milliseconds < 0 ? 'negative' : 'not negative');
  },
  CE02(s) {
    const event = s.event();
    s.put(
      'call',
      s.number(() => (s.is('query') ? event.isDone() : event.waitSync())),
    );
  },
  async CE03(s) {
    const event = s.s1.record();
    s.spin(s.s1, 400);
    s.s2.wait(event);
    s.s1.record(event);
    s.k(s.s2);
    await s.s2.synchronize();
    s.put('waits', s.s1.isIdle() ? 'yes' : 'no');
    s.put('query', event.isDone() ? 0 : 600);
  },
  CE04: destroyPending,
  CE05(s) {
    s.spin(s.s1, 100);
    s.put('query', s.s1.record().isDone() ? 0 : 600);
  },
  async CH02(s) {
    const isGraph = s.is('two branches');
    const graph = s.test.device.createGraph();
    for (const step of [1, 2]) graph.addHost(hostFunction(s, 50, step));
    const executable = graph.instantiateSync();
    const start = performance.now();
    if (isGraph) executable.launch(s.s1);
    else for (const stream of [s.s1, s.s2, s.s3]) stream.host(hostFunction(s, 50));
    await s.test.device.synchronize();
    const isSerial = performance.now() - start >= (isGraph ? 99 : 149);
    s.put('ran', isSerial ? 'one after the other' : 'at once');
  },
  CD01: (s) =>
    s.put(
      'call',
      s.number(() => s.test.runtime.device(99)),
    ),
  CD02(s) {
    const { device } = s.test;
    const stream = device.createStream({ priority: -100 });
    const { greatest } = device.priorityRange;
    s.put('call', 0);
    s.put('priority', stream.priority === greatest ? 'greatest' : stream.priority);
    stream.dispose();
  },
  CD04(s) {
    if (existsSync('/proc/driver/nvidia')) throw new NotPlayable('this machine has a driver');
    const cuda = probeSync().find(({ backend }) => backend === 'cuda');
    s.put('reason', cuda?.reason ?? 'none');
    s.put('version', cuda?.driverVersion ?? 0);
  },
};

async function destroyPending(s: Scene): Promise<void> {
  const [a, b] = [zeros(s.test, s.s1, 1), zeros(s.test, s.s2, 1)];
  s.spin(s.s1, 100);
  accumulate(s.test, s.s1, a);
  const event = s.s1.record();
  s.s2.wait(event);
  accumulate(s.test, s.s2, b);
  s.put(
    'destroy',
    s.number(() => (s.is('event') ? event.dispose() : s.s1.dispose())),
  );
  const sums = [...(await readInts(s.s2, b)), ...(await readInts(s.s2, a))];
  s.put('waiter', sums.join() === '1,1' ? 'completes' : sums.join());
}
