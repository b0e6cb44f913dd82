/**
 * What one launch costs the JavaScript thread: encoding, checks, and the call into the addon. The
 * kernels run after the measurement, behind a kernel that spins, so that only submission is timed.
 */
import { fileURLToPath } from 'node:url';
import { type KernelParams, open, type Stream, Tensor } from '../src/index.js';
import { measure, milliseconds, type Row, report } from './measure.js';

const manifest = fileURLToPath(
  new URL('../build/Release/test_kernels/manifest.json', import.meta.url),
);
const launches = 500;
const runs = 60;

const runtime = await open({ backend: 'cpu' });
const module = await runtime.loadModule({ manifest });
const device = runtime.device();
const stream = device.createStream({ name: 'bench' });
const y = Tensor.allocate(device, [256], 'i32', { stream });
const x = Tensor.allocate(device, [256], 'f32', { stream });
const config = { grid: [1], block: [256] } as const;

const rows: Row[] = [
  await launchRow('test_empty', 1, { tag: 0 }),
  await launchRow('test_accumulate', 4, { y, count: 4, factor: 1, x: 1 }),
  await launchRow('test_add', 5, { a: x, b: x, y: x, count: 4, scale: 1 }),
  await encodeRow(),
];
report('launch-overhead', rows);
await runtime.dispose();

async function launchRow(name: string, fields: number, params: KernelParams): Promise<Row> {
  const kernel = module.kernel(name);
  const only = { grid: [1], block: [1] } as const;
  const submit = (): number =>
    milliseconds(() => {
      for (let index = 0; index < launches; index += 1) stream.launch(kernel, only, params);
    });
  const times = await measure(runs, launches, () => behindSpin(submit));
  return { case: { what: 'launch', kernel: name, fields }, ...times, right: await counts() };
}

// The JavaScript part alone: the block is written, nothing is submitted.
async function encodeRow(): Promise<Row> {
  const kernel = module.kernel('test_add');
  const params = { a: x, b: x, y: x, count: 4, scale: 1 };
  const times = await measure(runs, 5000, () =>
    milliseconds(() => {
      for (let index = 0; index < 5000; index += 1) kernel.encode(stream, config, params);
    }),
  );
  const right = await counts();
  return { case: { what: 'encode only', kernel: 'test_add', fields: 5 }, ...times, right };
}

async function behindSpin(submit: () => number): Promise<number> {
  spin(stream, 8);
  const time = submit();
  await stream.synchronize();
  return time;
}

function spin(on: Stream, ms: number): void {
  const params = { done: null, microseconds: ms * 1000 };
  on.launch(module.kernel('test_spin'), { grid: [1], block: [1] }, params);
}

async function counts(): Promise<boolean> {
  stream.fill(y, 0);
  const kernel = module.kernel('test_accumulate');
  for (let index = 0; index < launches; index += 1) {
    stream.launch(kernel, config, { y, count: 256, factor: 1, x: 1 });
  }
  const values = new Int32Array(256);
  await stream.read(y, values);
  return values.every((value) => value === launches);
}
