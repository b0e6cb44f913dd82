/**
 * An allocation on a stream and its end, one pair after the other, and the wait for the device at
 * last. Peer: PyTorch's caching allocator, `torch.empty` and `del`.
 */
import { setTimeout } from 'node:timers/promises';
import { Tensor } from '../src/index.js';
import { openBench } from './bench-runtime.js';
import { measure, milliseconds } from './measure.js';
import { peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const setup = await openBench('allocation');
const { runtime, device, stream, isQuick } = setup;
const sizes = isQuick ? [4096] : [4096, 2 ** 20, 2 ** 26];
const runs = isQuick ? 3 : 40;
const peers = { pytorch: pytorch(setup, 'allocation', ...sizes) };

const rows: Row[] = [];
for (const bytes of sizes) rows.push(await pairRow(bytes));
await report(setup, rows, peers);

async function pairRow(bytes: number): Promise<Row> {
  // The CPU backend frees when the stream gets there: large ones in small numbers.
  const pairs = bytes > 2 ** 24 ? 16 : 200;
  await stream.synchronize();
  const before = runtime.stats().bytesInUse;
  const run = () => {
    for (let pair = 0; pair < pairs; pair += 1) {
      Tensor.allocate(device, [bytes], 'u8', { stream }).dispose();
    }
    stream.synchronizeSync();
  };
  for (let warm = 0; warm < 3; warm += 1) run();
  const times = await measure(runs, pairs, () => milliseconds(run));
  const right = (await isUsable(bytes)) && (await isFreed(before));
  return {
    case: { what: 'allocate, dispose', bytes },
    ...times,
    ...peersOf(peers, `${bytes}`),
    right,
  };
}

async function isUsable(bytes: number): Promise<boolean> {
  const tensor = Tensor.allocate(device, [bytes], 'u8', { stream });
  const values = new Uint8Array(bytes);
  await stream.fill(tensor, 7).read(tensor, values);
  tensor.dispose();
  return values[0] === 7 && values[bytes - 1] === 7;
}

// Memory is given back by another thread, a moment after the work that used it.
async function isFreed(bytesBefore: number): Promise<boolean> {
  await stream.synchronize();
  for (let wait = 0; wait < 200 && runtime.stats().bytesInUse !== bytesBefore; wait += 1) {
    await setTimeout(10);
  }
  return runtime.stats().bytesInUse === bytesBefore;
}
