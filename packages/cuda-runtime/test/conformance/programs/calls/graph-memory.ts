import { type DeviceBuffer, Tensor } from '../../../../src/index.js';
import { openTestRuntime } from '../../../makers/test-kernels.js';
import { kindsOf, type Scene } from '../../scene.js';
import type { Programs } from '../program.js';

/** Rows CU and CI about memory and modules while a stream captures. */
export const graphMemory: Programs = {
  CU10(s) {
    s.during(() => {
      const memory = owned(s);
      s.s1.fill(memory, 1).free(memory);
    });
    s.put('kinds', kindsOf(s.graph));
  },
  CU12(s) {
    const plain = s.test.device.alloc(64, { stream: s.s1 });
    s.during(() => s.s1.free(plain));
  },
  CU13(s) {
    s.begin();
    const memory = owned(s);
    s.put(
      'first',
      s.number(() => s.s1.free(memory)),
    );
    s.put(
      'second',
      s.number(() => s.s1.free(memory)),
    );
    s.finish();
  },
  async CU19(s) {
    const { backend } = s.test.runtime;
    const other = await openTestRuntime({ backend });
    let ended: Promise<void> | undefined;
    s.during(() => {
      ended = other.runtime.dispose();
    });
    await ended;
  },
  CU23(s) {
    const buffer = s.test.device.alloc(4096, { stream: s.s1 });
    s.during(() => s.s1.fill(Tensor.of(buffer, [2 ** 38], 'i32'), 1));
  },
  CI06(s) {
    let memory: DeviceBuffer | undefined;
    s.begin();
    s.put(
      'call',
      s.number(() => {
        memory = s.test.device.alloc(256, { stream: s.s3 });
      }),
    );
    s.put('pointer', memory === undefined ? 'null' : 'set');
    s.put('end', s.end());
  },
};

function owned(s: Scene): DeviceBuffer {
  return s.test.device.alloc(64, { stream: s.s1, graphOwned: true });
}
