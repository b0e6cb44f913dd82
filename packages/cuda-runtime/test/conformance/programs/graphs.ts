import type { Event, GraphExec, Stream } from '../../../src/index.js';
import { accumulate, readInts, zeros } from '../../makers/test-kernels.js';
import type { Scene } from '../scene.js';
import type { Programs } from './program.js';

/** Rows CG that captured graphs can play. */
export const graphs: Programs = {
  async CG03(s) {
    const { executable, value } = sum(s);
    s.put(
      'destroy',
      s.number(() => s.graph.dispose()),
    );
    s.put(
      'launch',
      s.number(() => executable.launch(s.s1)),
    );
    s.put('executed', (await value(s.s1)) === 1 ? 'yes' : 'no');
  },
  async CG04(s) {
    const { executable, value } = sum(s, 100);
    executable.launch(s.s1);
    s.put(
      'destroy',
      s.number(() => executable.dispose()),
    );
    s.put('executed', (await value(s.s1)) === 1 ? 'yes' : 'no');
  },
  async CG05(s) {
    s.begin();
    s.spin(s.s1, 200);
    s.end();
    const first = s.graph.instantiateSync();
    const second = s.is('two executables') ? s.graph.instantiateSync() : first;
    const ends = [timed(s, first, s.s1), timed(s, second, s.s2)] as const;
    await s.test.device.synchronize();
    const between = Math.abs(s.elapsed(...ends));
    const launches = between >= 190 ? 'serialised' : between <= 100 ? 'concurrent' : between;
    s.put('launches', launches);
  },
  async CG06(s) {
    const { executable, value } = sum(s);
    s.put(
      'launch',
      s.number(() => executable.launch(s.legacy)),
    );
    s.put('executed', (await value(s.legacy)) === 1 ? 'yes' : 'no');
  },
};

function sum(s: Scene, spinMs = 0) {
  const total = zeros(s.test, s.s1, 1);
  s.s1.synchronizeSync(); // the graph may be launched on a stream that does not wait for S1
  s.begin();
  if (spinMs > 0) s.spin(s.s1, spinMs);
  accumulate(s.test, s.s1, total);
  s.end();
  const value = async (stream: Stream) => (await readInts(stream, total))[0];
  return { executable: s.graph.instantiateSync(), value };
}

function timed(s: Scene, executable: GraphExec, stream: Stream): Event {
  executable.launch(stream);
  return stream.record(s.event(true));
}
