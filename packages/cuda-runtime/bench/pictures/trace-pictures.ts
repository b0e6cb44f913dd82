// Draws docs/trace.svg from trace.json, a recorded trace: the picture is the same in every run.
//   tsx --conditions=@altstream/source bench/pictures/trace-pictures.ts [--record]
// `--record` makes the recording anew: two branches of a graph, a programmatic pair, a copy.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nvtx, open, Tensor, TraceData, type TraceSpan, withAlt } from '../../src/index.js';

const docs = new URL('../../docs/', import.meta.url);

/** A trace as it is saved: waits name spans by their place. */
interface SavedTrace {
  readonly spans: readonly TraceSpan[];
  readonly flows: readonly (readonly [from: number, to: number])[];
  readonly ranges: TraceData['ranges'];
}

/** Reads trace.json. */
export function savedTrace(): TraceData {
  const saved: SavedTrace = JSON.parse(
    readFileSync(new URL('trace.json', import.meta.url), 'utf8'),
  );
  const at = (index: number) => {
    const span = saved.spans[index];
    if (!span) throw new RangeError(`trace.json has no span ${index}`);
    return span;
  };
  const flows = saved.flows.map(([from, to]) => ({ from: at(from), to: at(to) }));
  return new TraceData({ spans: saved.spans, ranges: saved.ranges, flows });
}

async function record(): Promise<SavedTrace> {
  const runtime = await open({ backend: 'cpu', isolated: true });
  const manifest = fileURLToPath(
    new URL('../../build/Release/test_kernels/manifest.json', import.meta.url),
  );
  const module = await runtime.loadModule({ manifest });
  const [main, alt] = [runtime.currentStream(), runtime.streams.get('alt')];
  const one = { grid: [1], block: [1] } as const;
  const make = () => Tensor.allocate(runtime.device(), [1 << 18], 'i32', { stream: main });
  const [x, y, z] = [make(), make(), make()] as const;
  const spin = (stream: typeof main, done: Tensor, microseconds: number) =>
    stream.launch(module.kernel('test_spin'), one, { done, microseconds });
  const first = { x: null, y: x.slice(0, 0, 1), started_early: null, value: 1, microseconds: 4000 };
  const second = { ...first, x: x.slice(0, 0, 1), y: y.slice(0, 0, 1), microseconds: 0 };
  const step = () =>
    runtime.device().capture(
      () => {
        main.fill(x, 1);
        withAlt(
          main,
          alt,
          () => void spin(alt, y.slice(0, 0, 1), 9000),
          () => void spin(main, z.slice(0, 0, 1), 6000),
        );
        main.launch(module.kernel('test_pdl_first'), one, first);
        const programmatic = { serialize: true };
        main.launch(module.kernel('test_pdl_second'), { ...one, programmatic }, second);
      },
      { stream: main },
    );
  runtime.trace.start();
  const exec = nvtx.range('prepare', () => step().instantiateSync());
  nvtx.range('two replays', () => void exec.launch(main).launch(main));
  main.copy(z, x);
  await main.synchronize();
  const { spans, ranges, flows } = runtime.trace.stop();
  await runtime.dispose();
  const indices = flows.map(({ from, to }) => [spans.indexOf(from), spans.indexOf(to)] as const);
  return { spans: spans.map((span) => ({ ...span, thread: 0 })), ranges, flows: indices };
}

function isClear({ spans, ranges }: SavedTrace): boolean {
  const data = new TraceData({ spans, ranges });
  const lengthMs = ((spans.at(-1)?.endNs ?? 0) - (ranges[0]?.startNs ?? 0)) / 1e6;
  return data.overlap('main', 'alt').fraction > 0.4 && lengthMs < 60;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--record')) {
    let recorded = await record();
    // A busy machine may let the branches run in turn, or stop in between.
    for (let more = 30; more > 0 && !isClear(recorded); more -= 1) recorded = await record();
    writeFileSync(new URL('trace.json', import.meta.url), `${JSON.stringify(recorded, null, 1)}\n`);
  }
  writeFileSync(new URL('trace.svg', docs), `${savedTrace().toSvg()}\n`);
}
