import { accumulate, readInts, zeros } from '../../makers/test-kernels.js';
import type { Programs } from './program.js';

/** Rows CL. */
export const legacyStream: Programs = {
  CL01(s) {
    const { legacy } = s;
    s.during(() => {
      if (s.is('launch')) return s.k(legacy);
      if (s.is('query')) return legacy.isIdle();
      return s.is('record') ? legacy.record() : legacy.synchronizeSync();
    }, s.b1);
  },
  CL02: (s) => s.during(() => s.legacy.captureStatus, s.b1),
  async CL03(s) {
    const sum = zeros(s.test, s.b2, 1);
    s.during(() => accumulate(s.test, s.b2, sum), s.b1);
    s.put('executed', (await readInts(s.b2, sum))[0] === 1 ? 'yes' : 'no');
  },
  CL04(s) {
    s.begin();
    const event = s.s1.record();
    s.put(
      'call',
      s.number(() => s.legacy.wait(event)),
    );
    s.finish();
  },
  CL05(s) {
    s.begin();
    s.link(s.s1, s.b1);
    s.put(
      'call',
      s.number(() => s.k(s.legacy)),
    );
    s.finish();
  },
  async CL06(s) {
    const order = [s.b1, s.legacy, s.b2, s.s1] as const;
    const ends = order.map((stream) => {
      if (stream === s.b1) s.spin(stream, 200);
      else if (stream === s.legacy) s.spin(stream, 50);
      else s.k(stream);
      return stream.record(s.event(true));
    });
    await s.test.device.synchronize();
    const [b1, legacy, b2, s1] = ends;
    if (!b1 || !legacy || !b2 || !s1) throw new Error('four events');
    const yesIf = (isTrue: boolean) => (isTrue ? 'yes' : 'no');
    s.put('legacy waits for B1', yesIf(s.elapsed(b1, legacy) >= 49));
    s.put('B2 waits for legacy', yesIf(s.elapsed(legacy, b2) >= 0));
    s.put('S1 waits', yesIf(s.elapsed(b1, s1) >= 0));
  },
};
