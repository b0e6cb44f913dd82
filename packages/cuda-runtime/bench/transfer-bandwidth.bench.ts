/**
 * Bytes a second between host and device: `stream.write` and `stream.read` of ordinary memory, the
 * same of pinned memory, and `stream.copy` with a pinned buffer. Each row moves the bytes once and
 * waits. Peer: PyTorch's `copy_` of ordinary and of pinned tensors.
 */
import { type HostBuffer, Tensor } from '../src/index.js';
import { openBench } from './bench-runtime.js';
import { asyncMilliseconds, measure, milliseconds } from './measure.js';
import { peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const setup = await openBench('transfer-bandwidth');
const { device, stream, isQuick } = setup;
const sizes = isQuick ? [4096, 2 ** 20] : [4096, 2 ** 20, 2 ** 24, 2 ** 26];
const peers = { pytorch: pytorch(setup, 'transfer', ...sizes) };

const rows: Row[] = [];
for (const bytes of sizes) rows.push(...(await transferRows(bytes)));
await report(setup, rows, peers);

interface Way {
  readonly what: string;
  readonly peer: string;
  readonly run: () => Promise<void> | void;
}

async function transferRows(bytes: number): Promise<readonly Row[]> {
  using tensor = Tensor.allocate(device, [bytes], 'u8', { stream });
  using pinned = device.allocHostSync(bytes);
  const rows: Row[] = [];
  for (const { what, peer: key, run } of ways(tensor, new Uint8Array(bytes), pinned)) {
    const isSync = run() === undefined;
    const runs = isQuick ? 3 : bytes >= 2 ** 26 ? 20 : 60;
    const times = await measure(runs, 1, async () => {
      await stream.synchronize();
      await stream.ready(); // the staging memory of the last one is free
      return isSync ? milliseconds(() => void run()) : asyncMilliseconds(async () => run());
    });
    const gbps = bytes / times.us / 1e3;
    const right = await moves(tensor, pinned, bytes);
    rows.push({
      case: { what, bytes },
      ...times,
      gbps,
      ...peersOf(peers, `${key}:${bytes}`),
      right,
    });
  }
  return rows;
}

function ways(tensor: Tensor, ordinary: Uint8Array, pinned: HostBuffer): readonly Way[] {
  const view = new Uint8Array(pinned.buffer);
  const waited = (enqueue: () => unknown) => () => {
    enqueue();
    stream.synchronizeSync();
  };
  return [
    { what: 'write', peer: 'to', run: waited(() => stream.write(tensor, ordinary)) },
    { what: 'write, pinned', peer: 'pinned-to', run: waited(() => stream.write(tensor, view)) },
    { what: 'copy from pinned', peer: 'pinned-to', run: waited(() => stream.copy(tensor, pinned)) },
    { what: 'read', peer: 'from', run: () => stream.read(tensor, ordinary) },
    { what: 'read, pinned', peer: 'pinned-from', run: () => stream.read(tensor, view) },
    { what: 'copy to pinned', peer: 'pinned-from', run: waited(() => stream.copy(pinned, tensor)) },
  ];
}

// A pattern goes to the device by one way and comes back by another one.
async function moves(tensor: Tensor, pinned: HostBuffer, bytes: number): Promise<boolean> {
  const sent = Uint8Array.from({ length: 4096 }, (_, index) => (index * 37 + bytes) & 0xff);
  const view = new Uint8Array(pinned.buffer);
  view.fill(0);
  view.set(sent, bytes - sent.length);
  stream.copy(tensor, pinned);
  const back = new Uint8Array(bytes);
  await stream.read(tensor, back);
  return (
    Buffer.compare(back.subarray(bytes - sent.length), sent) === 0 &&
    (bytes === 4096 || back[0] === 0)
  );
}
