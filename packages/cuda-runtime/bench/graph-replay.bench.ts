/** What a node costs when a graph is replayed, against the same launches one by one. */
import { fileURLToPath } from 'node:url';
import { type GraphExec, open, Tensor, withAlt } from '../src/index.js';
import { measure, milliseconds, type Row, report } from './measure.js';

const manifest = fileURLToPath(
  new URL('../build/Release/test_kernels/manifest.json', import.meta.url),
);
const runs = 40;

const runtime = await open({ backend: 'cpu' });
const module = await runtime.loadModule({ manifest });
const device = runtime.device();
const stream = device.createStream({ name: 'main' });
const alt = runtime.streams.get('alt');
const kernel = module.kernel('test_accumulate');
const config = { grid: [1], block: [256] } as const;
const [left, right] = [allocate(), allocate()];

const rows: Row[] = [];
for (const nodes of [1, 100, 600]) {
  rows.push(await eagerRow(nodes));
  rows.push(await graphRow('chain', nodes, chain(nodes)));
}
rows.push(await graphRow('two branches', 600, branches(600)));
report('graph-replay', rows);
await runtime.dispose();

async function eagerRow(nodes: number): Promise<Row> {
  const run = () => {
    for (let index = 0; index < nodes; index += 1) add(stream, left);
    stream.synchronizeSync();
  };
  const isRight = await adds(run, nodes);
  return { case: { what: 'eager', nodes }, ...(await time(nodes, run)), right: isRight };
}

async function graphRow(shape: string, nodes: number, exec: GraphExec): Promise<Row> {
  const run = () => {
    exec.launch(stream);
    stream.synchronizeSync();
  };
  const isRight = await adds(run, nodes);
  const times = isRight ? await time(nodes, run) : {};
  return { case: { what: `graph, ${shape}`, nodes }, ...times, right: isRight };
}

async function time(nodes: number, run: () => void) {
  for (let index = 0; index < 5; index += 1) run();
  return measure(runs, nodes, () => milliseconds(run));
}

async function adds(run: () => void, nodes: number): Promise<boolean> {
  stream.fill(left, 0).fill(right, 0);
  run();
  const values = [new Int32Array(16), new Int32Array(16)];
  await stream.read(left, values[0] ?? new Int32Array());
  await stream.read(right, values[1] ?? new Int32Array());
  return (values[0]?.[3] ?? 0) + (values[1]?.[3] ?? 0) === nodes;
}

function chain(nodes: number): GraphExec {
  const record = () => {
    for (let index = 0; index < nodes; index += 1) add(stream, left);
  };
  return device.capture(record, { stream }).instantiateSync();
}

function branches(nodes: number): GraphExec {
  const half = (on: typeof stream, y: Tensor) => () => {
    for (let index = 0; index < nodes / 2; index += 1) add(on, y);
  };
  const record = () => withAlt(stream, alt, half(alt, right), half(stream, left));
  return device.capture(record, { stream }).instantiateSync();
}

function add(on: typeof stream, y: Tensor): void {
  on.launch(kernel, config, { y, count: 16, factor: 1, x: 1 });
}

function allocate(): Tensor {
  return Tensor.allocate(device, [16], 'i32', { stream });
}
