/**
 * 60 × (fork, a kernel on each of two streams, join) in one graph, as a model with 60 layers has.
 * With tiny kernels it shows what forks and joins cost; with long ones, whether the two really run
 * at once: the replay should take as long as one branch alone. Peer: PyTorch's graph of the same
 * shape.
 */
import { type GraphExec, type Stream, withAlt } from '../src/index.js';
import { addOne, count, counters, openBench, spin } from './bench-runtime.js';
import { measure, milliseconds, type Timing } from './measure.js';
import { peersOf, pytorch } from './peer-times.js';
import { type Row, report } from './report.js';

const layers = 60;
const kernelUs = 200;
const mostOverlap = 1.1;

const setup = await openBench('graph-fork-join');
const { runtime, device, stream, isQuick } = setup;
const runs = isQuick ? 3 : 40;
const peers = { pytorch: pytorch(setup, 'fork-join', layers, kernelUs) };
const alt = runtime.streams.get('alt');
const [left, right] = [counters(setup), counters(setup)];

const tiny = await tinyRows();
await report(setup, [...tiny, ...(await longRows())], peers);

async function tinyRows(): Promise<readonly Row[]> {
  using chain = capture((both) => {
    addOne(setup, both, left);
    addOne(setup, both, left);
  });
  using forks = fork(
    (on) => addOne(setup, on, left),
    (on) => addOne(setup, on, right),
  );
  const isRight = (await adds(chain)) && (await adds(forks));
  const name = (shape: string) => ({ what: `${shape}, tiny kernels`, layers });
  return [
    { case: name('one stream'), ...(await time(chain)), right: isRight },
    {
      case: name('fork and join'),
      ...(await time(forks)),
      ...peersOf(peers, 'tiny'),
      right: isRight,
    },
  ];
}

async function longRows(): Promise<readonly Row[]> {
  using alone = capture((on) => spin(setup, on, kernelUs));
  const long = (on: Stream) => spin(setup, on, kernelUs);
  using both = fork(long, long);
  const [one, two] = [await time(alone), await time(both)];
  // The GPU's clock that the kernel looks at may advance in steps of a microsecond and more.
  const right = Math.min(one.us, two.us) >= 0.95 * layers * kernelUs;
  const target = { what: 'both, of one alone', value: two.us / one.us, most: mostOverlap };
  const name = (what: string) => ({ what, layers, kernelUs });
  return [
    { case: name('one long kernel'), ...one, ...peersOf(peers, 'long:alone'), right },
    {
      case: name('fork, two long kernels, join'),
      ...two,
      ...peersOf(peers, 'long:both'),
      ...(runtime.backend === 'cuda' && { target }),
      right,
    },
  ];
}

function fork(onMain: (on: Stream) => void, onAlt: (on: Stream) => void): GraphExec {
  return capture((main) => {
    withAlt(
      main,
      alt,
      () => onAlt(alt),
      () => onMain(main),
    );
  });
}

function capture(layer: (on: Stream) => void): GraphExec {
  const record = () => {
    for (let index = 0; index < layers; index += 1) layer(stream);
  };
  using graph = device.capture(record, { stream });
  return graph.instantiateSync();
}

async function time(exec: GraphExec): Promise<Timing> {
  const run = () => {
    exec.launch(stream);
    stream.synchronizeSync();
  };
  for (let index = 0; index < (isQuick ? 1 : 5); index += 1) run();
  return measure(runs, 1, () => milliseconds(run));
}

async function adds(exec: GraphExec): Promise<boolean> {
  stream.fill(left, 0).fill(right, 0);
  exec.launch(stream);
  return (await count(setup, left)) + (await count(setup, right)) === 2 * layers;
}
