/**
 * One launch of a graph by its number of nodes: the call alone, which JavaScript waits for, and the
 * whole replay up to the end of the last kernel. Peers: the
 * same from C++, and PyTorch's replay of as many tiny kernels.
 */
import { addOne, count, counters, openBench } from './bench-runtime.js';
import { measure, milliseconds } from './measure.js';
import { driver, peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const targetNodes = 1000;
const mostOfPeer = 1.2;

const setup = await openBench('graph-launch');
const { device, stream, isQuick } = setup;
const sizes = isQuick ? [1, 10] : [1, 10, 100, 1000, 10_000];
const runs = isQuick ? 3 : 60;
const peers = {
  driver: driver(setup, 'graph', ...sizes),
  pytorch: pytorch(setup, 'graph', ...sizes),
};
const y = counters(setup);

const rows: Row[] = [];
for (const nodes of sizes) rows.push(...(await graphRows(nodes)));
await report(setup, rows, peers);

async function graphRows(nodes: number): Promise<readonly Row[]> {
  const record = () => {
    for (let index = 0; index < nodes; index += 1) addOne(setup, stream, y);
  };
  using graph = device.capture(record, { stream });
  using exec = graph.instantiateSync();
  stream.fill(y, 0);
  for (let launch = 0; launch < 3; launch += 1) exec.launch(stream);
  const right = (await count(setup, y)) === 3 * nodes;
  const call = await measure(runs, 1, () => {
    const time = milliseconds(() => void exec.launch(stream));
    stream.synchronizeSync();
    return time;
  });
  const replay = await measure(runs, 1, () =>
    milliseconds(() => {
      exec.launch(stream);
      stream.synchronizeSync();
    }),
  );
  const others = peersOf(peers, `replay:${nodes}`);
  return [
    { case: { what: 'call', nodes }, ...call, ...peersOf(peers, `call:${nodes}`), right },
    { case: { what: 'replay', nodes }, ...replay, ...others, ...target(nodes, replay.us), right },
  ];
}

function target(nodes: number, us: number): Pick<Row, 'target'> {
  const other = peers.pytorch.us[`replay:${nodes}`];
  if (nodes !== targetNodes || other === undefined) return {};
  return { target: { what: 'of PyTorch’s replay', value: us / other, most: mostOfPeer } };
}
