import { afterEach, describe, expect, test } from 'vitest';
import type { CpuOptions, Graph, Tensor } from '../src/index.js';
import { withAlt } from '../src/index.js';
import { openTestRuntime, readInts, spin, type TestRuntime, zeros } from './makers/test-kernels.js';

let t: TestRuntime | undefined;
afterEach(() => t?.runtime.dispose());

describe('two branches of a captured graph', () => {
  test('run at the same time: each meets the other, again and again', async () => {
    const scene = await rendezvous({}, 3000);
    const exec = scene.graph.instantiateSync();
    for (let launch = 1; launch <= 20; launch += 1) {
      exec.launch(scene.main);
      expect(await scene.met()).toEqual([1, 1]);
    }
    expect(exec.launches).toBe(20);
  });

  test('do not meet under the serial schedule, which shows that the test can fail', async () => {
    const scene = await rendezvous({ schedule: 'serial' }, 50);
    scene.graph.instantiateSync().launch(scene.main);
    expect(await scene.met()).not.toEqual([1, 1]);
  });

  test('are two tracks that overlap in the trace, and two columns in the pictures', async () => {
    const scene = await spinning();
    const exec = scene.graph.instantiateSync();
    const { trace } = scene.t.runtime;
    trace.start();
    exec.launch(scene.main);
    await scene.main.synchronize();
    const recording = trace.stop();
    const spans = recording.spans.filter(({ name }) => name.includes('spin'));
    const [first, second] = spans;
    if (!first || !second) throw new Error(`two spans expected, got ${spans.length}`);
    expect(new Set(spans.map(({ stream }) => stream)).size).toBe(2);
    expect(Math.min(first.endNs, second.endNs)).toBeGreaterThan(second.startNs);
    const { traceEvents } = JSON.parse(recording.toChromeJson());
    const tracks = traceEvents.filter((event: { ph: string }) => event.ph === 'X');
    expect(new Set(tracks.map(({ tid }: { tid: number }) => tid)).size).toBe(2);
    expect(recording.toSvg()).toMatch(/^<svg[\s\S]*<\/svg>$/);
    expect(recording.toSvg().match(/<title>[^<]*spin/g)).toHaveLength(2);
    trace.start();
    expect(trace.stop().spans).toEqual([]);
  });

  test('DOT and SVG name both streams and draw each dependency', async () => {
    const { graph } = await spinning();
    const dot = graph.toDot();
    expect(dot).toMatch(/<td bgcolor="#56b4e9">main<.*<td bgcolor="#e69f00">alt</);
    expect(dot.match(/ -> /g)).toHaveLength(graph.edges.length);
    const svg = graph.toSvg();
    expect(svg.match(/<line /g)).toHaveLength(graph.edges.length);
    expect(svg).toMatch(
      /^<svg [^>]*role="img"[^>]*>\n<title>Graph, operations: \d+, streams: main#\d+, alt#\d+</,
    );
    expect(svg).not.toMatch(/href|url\(h|<script/);
  });
});

async function rendezvous(cpu: CpuOptions, timeoutMs: number) {
  const opened = await openTestRuntime({ cpu });
  t = opened;
  const main = opened.device.createStream({ name: 'main' });
  const alt = opened.runtime.streams.get('alt');
  const [flags, a, b] = [zeros(opened, main, 2), zeros(opened, main, 1), zeros(opened, main, 1)];
  const { rendezvous: kernel } = opened.kernels;
  const config = { grid: [1], block: [1] } as const;
  const meet = (stream: typeof main, met: Tensor, side: number) => () => {
    stream.launch(kernel, config, { flags, met, side, timeout_ms: timeoutMs });
  };
  await main.synchronize();
  const graph: Graph = opened.device.capture(
    () => withAlt(main, alt, meet(alt, a, 1), meet(main, b, 0)),
    { stream: main },
  );
  const met = async () => [...(await readInts(main, a)), ...(await readInts(main, b))];
  return { graph, main, met };
}

async function spinning() {
  const opened = await openTestRuntime();
  t = opened;
  const main = opened.device.createStream({ name: 'main' });
  const alt = opened.runtime.streams.get('alt');
  const graph = opened.device.capture(
    () =>
      withAlt(
        main,
        alt,
        () => void spin(opened, alt, 30),
        () => void spin(opened, main, 30),
      ),
    { stream: main },
  );
  return { t: opened, graph, main };
}
