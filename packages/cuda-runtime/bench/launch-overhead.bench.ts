/**
 * What one launch costs the JavaScript thread: encoding, checks, and the call into the driver. The
 * kernels run after the measurement, behind a kernel that spins, so that only submission is timed;
 * the throughput rows submit without a spin and wait, as a program would. Peers: the same calls
 * from C++, and PyTorch's `x.add_(1)`.
 */
import { type KernelParams, Tensor } from '../src/index.js';
import { addOne, count, counters, openBench, spin } from './bench-runtime.js';
import { measure, milliseconds } from './measure.js';
import { driver, peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const launches = 500;
const spinMs = 8;
const mostLaunchUs = 3;

const setup = await openBench('launch-overhead');
const { device, stream, kernel, runtime, isQuick } = setup;
const runs = isQuick ? 3 : 60;
const peers = {
  driver: driver(setup, 'launch', launches),
  pytorch: pytorch(setup, 'launch', launches),
};
const y = counters(setup);
const x = Tensor.allocate(device, [256], 'f32', { stream });
stream.fill(x, 0);
const right = await counts();

await report(
  setup,
  [
    await launchRow('empty', 1, { tag: 0 }),
    { ...(await accumulateRow()), ...peersOf(peers, 'call') },
    await launchRow('add', 5, { a: x, b: x, y: x, count: 4, scale: 1 }),
    await encodeRow(),
    { ...(await throughputRow()), ...peersOf(peers, 'throughput') },
  ],
  peers,
);

async function accumulateRow(): Promise<Row> {
  const row = await launchRow('accumulate', 4, { y, count: 4, factor: 1, x: 1 });
  if (runtime.backend === 'cpu') return row;
  const target = { what: 'µs a launch from JavaScript', value: row.us ?? 0, most: mostLaunchUs };
  return { ...row, target };
}

async function launchRow(name: string, fields: number, params: KernelParams): Promise<Row> {
  const launched = kernel(name);
  const only = { grid: [1], block: [1] } as const;
  const submit = (): number =>
    milliseconds(() => {
      for (let index = 0; index < launches; index += 1) stream.launch(launched, only, params);
    });
  const times = await measure(runs, launches, async () => {
    spin(setup, stream, spinMs * 1000);
    const time = submit();
    await stream.synchronize();
    return time;
  });
  return { case: { what: 'launch', kernel: `test_${name}`, fields }, ...times, right };
}

// The JavaScript part alone: the block is written, nothing is submitted.
async function encodeRow(): Promise<Row> {
  const encoded = kernel('add');
  const config = { grid: [1], block: [256] } as const;
  const params = { a: x, b: x, y: x, count: 4, scale: 1 };
  const items = isQuick ? 500 : 5000;
  const times = await measure(runs, items, () =>
    milliseconds(() => {
      for (let index = 0; index < items; index += 1) encoded.encode(device, config, params);
    }),
  );
  return { case: { what: 'encode only', kernel: 'test_add', fields: 5 }, ...times, right };
}

async function throughputRow(): Promise<Row> {
  const items = 4 * launches;
  const times = await measure(runs, items, () =>
    milliseconds(() => {
      for (let index = 0; index < items; index += 1) addOne(setup, stream, y);
      stream.synchronizeSync();
    }),
  );
  const what = { what: 'launch and run', kernel: 'test_accumulate', fields: 4 };
  return { case: what, ...times, perSecond: 1e6 / times.us, right };
}

async function counts(): Promise<boolean> {
  for (let index = 0; index < launches; index += 1) addOne(setup, stream, y);
  return (await count(setup, y)) === launches;
}
