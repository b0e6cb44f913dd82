import { type Stream, Tensor } from '../../src/index.js';
import type { TestRuntime } from './test-kernels.js';

const one = { grid: [1], block: [1] } as const;

/** Keeps `stream` busy until the function that it returns is called, or for 30 seconds. */
export function closeGate(t: TestRuntime, stream: Stream): () => void {
  const flags = Tensor.allocate(t.device, [2], 'i32', { stream });
  const met = Tensor.allocate(t.device, [2], 'i32', { stream });
  stream.fill(flags, 0);
  const ready = stream.record();
  const arrive = (on: Stream, side: number) => {
    const params = { flags, met: met.slice(0, side, side + 1), side, timeout_ms: 30_000 };
    on.launch(t.kernels.rendezvous, one, params);
    params.met.dispose();
  };
  arrive(stream, 0);
  return () => {
    const other = t.device.createStream({ name: 'gate' });
    other.wait(ready);
    arrive(other, 1);
    for (const object of [flags, met, ready, other]) object.dispose();
  };
}
