/**
 * What making a graph costs before the first launch, by its number of nodes: recording it, and
 * turning it into something that can be launched. Peer: PyTorch's capture, which does both.
 */
import type { GraphExec } from '../src/index.js';
import { addOne, count, counters, openBench } from './bench-runtime.js';
import { measure, milliseconds } from './measure.js';
import { peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const setup = await openBench('graph-instantiate');
const { device, stream, isQuick } = setup;
const sizes = isQuick ? [1, 10] : [1, 10, 100, 1000, 10_000];
const peers = { pytorch: pytorch(setup, 'instantiate', ...sizes) };
const y = counters(setup);

const rows: Row[] = [];
for (const nodes of sizes) rows.push(...(await graphRows(nodes)));
await report(setup, rows, peers);

async function graphRows(nodes: number): Promise<readonly Row[]> {
  const runs = isQuick ? 3 : nodes > 1000 ? 10 : 30;
  using graph = capture(nodes);
  const right = await adds(graph.instantiateSync(), nodes);
  const captured = await measure(runs, 1, () => {
    const begin = performance.now();
    const made = capture(nodes);
    const time = performance.now() - begin;
    made.dispose();
    return time;
  });
  const instantiated = await measure(runs, 1, () => {
    const execs: GraphExec[] = [];
    const time = milliseconds(() => void execs.push(graph.instantiateSync()));
    for (const exec of execs) exec.dispose();
    return time;
  });
  const both = await measure(runs, 1, () => {
    const begin = performance.now();
    const made = capture(nodes);
    const exec = made.instantiateSync();
    const time = performance.now() - begin;
    exec.dispose();
    made.dispose();
    return time;
  });
  return [
    { case: { what: 'capture', nodes }, ...captured, right },
    { case: { what: 'instantiate', nodes }, ...instantiated, right },
    {
      case: { what: 'capture and instantiate', nodes },
      ...both,
      ...peersOf(peers, `${nodes}`),
      right,
    },
  ];
}

function capture(nodes: number) {
  const record = () => {
    for (let index = 0; index < nodes; index += 1) addOne(setup, stream, y);
  };
  return device.capture(record, { stream });
}

async function adds(exec: GraphExec, nodes: number): Promise<boolean> {
  stream.fill(y, 0);
  exec.launch(stream);
  const isRight = (await count(setup, y)) === nodes;
  exec.dispose();
  return isRight;
}
