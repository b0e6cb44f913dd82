/** What a node costs when a graph is replayed, against the same launches one by one. */
import { type GraphExec, withAlt } from '../src/index.js';
import { addOne, count, counters, openBench } from './bench-runtime.js';
import { measure, milliseconds } from './measure.js';
import { type Row, report } from './report.js';

const setup = await openBench('graph-replay');
const { runtime, device, stream, isQuick } = setup;
const runs = isQuick ? 3 : 40;
const alt = runtime.streams.get('alt');
const [left, right] = [counters(setup), counters(setup)];

const rows: Row[] = [];
for (const nodes of isQuick ? [1, 10] : [1, 100, 600]) {
  rows.push(await eagerRow(nodes));
  rows.push(await graphRow('chain', nodes, chain(nodes)));
}
const most = isQuick ? 20 : 600;
rows.push(await graphRow('two branches', most, branches(most)));
await report(setup, rows);

async function eagerRow(nodes: number): Promise<Row> {
  const run = () => {
    for (let index = 0; index < nodes; index += 1) addOne(setup, stream, left);
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
  return (await count(setup, left)) + (await count(setup, right)) === nodes;
}

function chain(nodes: number): GraphExec {
  const record = () => {
    for (let index = 0; index < nodes; index += 1) addOne(setup, stream, left);
  };
  return device.capture(record, { stream }).instantiateSync();
}

function branches(nodes: number): GraphExec {
  const half = (on: typeof stream, y: typeof left) => () => {
    for (let index = 0; index < nodes / 2; index += 1) addOne(setup, on, y);
  };
  const record = () => withAlt(stream, alt, half(alt, right), half(stream, left));
  return device.capture(record, { stream }).instantiateSync();
}
