import type { CpuCost, Graph } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it, vi } from 'vitest';
import type { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import { makeFolders } from '../makers/folders.js';
import { makeModels } from '../makers/models.js';
import { Session } from '../makers/session.js';

const folder = makeFolders();
const auto = { sharedExpert: 'auto', measuredBatchSizes: [2] } as const;

/** Kernels in order with the kind of stream, and the edges between them. */
function shapeOf({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>, from: number, count: number) {
  const own = nodes.slice(from, from + count);
  const inside = (at: number) => at >= from && at < from + count;
  return {
    kernels: own.map(({ label, stream }) => `${stream.replace(/^(?!alt).*/, 'main')} ${label}`),
    edges: edges
      .filter((edge) => inside(edge.from) && inside(edge.to))
      .map(({ from: a, to: b, type }) => `${a - from} ${b - from} ${type}`),
  };
}

/** The graphs that a model captures to measure with. */
async function measuredGraphs(model: MiniMaxM3Model) {
  const capture = model.device.capture.bind(model.device);
  const graphs: Pick<Graph, 'nodes' | 'edges'>[] = [];
  const spy = vi.spyOn(model.device, 'capture').mockImplementation((body, options) => {
    const graph = capture(body, options);
    graphs.push({ nodes: graph.nodes, edges: graph.edges });
    return graph;
  });
  await model.variant(auto).finally(() => spy.mockRestore());
  return graphs;
}

onEachBackend((backend) => {
  const load = makeModels(backend);

  it('what is measured are the layers of a captured step: kernels, streams and edges', async () => {
    const model = await load({ directory: await folder({ model: 'T32', mxfp8: true }) });
    const decisions = [{}, { overlap: 'off' }, { sharedExpert: 'fused' }] as const;
    const graphs = await measuredGraphs(model);
    expect(graphs).toHaveLength(decisions.length);
    for (const [i, measured] of graphs.entries()) {
      const step = new Session(await model.variant(decisions[i] ?? {}), 2, 8);
      const { graph } = await step.capture(2);
      // Before: the residual stream is set. After, in a step: norm and head.
      const count = measured.nodes.length - 1;
      const expected = shapeOf(measured, 1, count);
      const starts = graph.nodes.map((_, at) => at).filter((at) => at + count < graph.nodes.length);
      const found = starts.map((at) => shapeOf(graph, at, count).kernels);
      const start = found.findIndex((kernels) => `${kernels}` === `${expected.kernels}`);
      expect(start).toBeGreaterThan(0);
      expect(shapeOf(graph, start, count)).toEqual(expected);
      const streams = new Set(expected.kernels.map((kernel) => kernel.split(' ')[0]));
      expect(streams.size).toBe(i === 0 ? 2 : 1);
    }
  });
});

// Every kernel takes what the test says, so that the whole layer is known to the nanosecond.
describe('on the virtual clock', () => {
  const load = makeModels('cpu');
  const measure = async (cost: CpuCost, overlap: 'capture' | 'off' = 'capture') => {
    const directory = await folder({ model: 'T32' });
    const model = await load({ directory, ...auto, overlap, cpu: { clock: 'virtual', cost } });
    const measured = model.sharedExpert.measurementOf(2);
    const { separateUs = 0, serialUs = 0, fusedUs = 0 } = measured ?? {};
    return { measured, saved: [serialUs - separateUs, serialUs - fusedUs] };
  };
  /** Of the shared expert; the two linears around it have the names of others. */
  const swiglu = (us: number) => ({ swiglu_oai_f32: { us } });

  it('two streams hide the shorter branch; a fused slot leaves the shared one out', async () => {
    const { measured, saved } = await measure({ kernel: { us: 10 }, kernels: swiglu(20) });
    // Shared 10 + 20 + 10, routed 4 · 10: router, top-k with permute, gate and up, down.
    expect(saved).toEqual([expect.closeTo(40, 6), expect.closeTo(40, 6)]);
    // As fast, but with one stream.
    expect(measured).toMatchObject({ chosen: 'fused', layers: 3, replays: 20 });
    const long = await measure({ kernel: { us: 10 }, kernels: swiglu(100) });
    expect(long.saved).toEqual([expect.closeTo(40, 6), expect.closeTo(120, 6)]);
    expect(long.measured).toMatchObject({
      chosen: 'fused',
      why: expect.stringMatching(/^fused saves .* % over serial$/),
    });
  });

  it('a saving that is small beside attention leaves the order serial', async () => {
    const kernels = {
      ...swiglu(10),
      linear_bf16_f32_f32: { us: 0 },
      paged_attention_f32: { us: 5000 },
      sparse_attention_f32: { us: 5000 },
    };
    const { measured, saved } = await measure({ kernels });
    expect(saved).toEqual([expect.closeTo(4, 6), expect.closeTo(10, 6)]);
    const why = 'fused saves 0.2 % over serial, less than the 1 % asked for';
    expect(measured).toMatchObject({ chosen: 'serial', why });
  });

  it('without overlap there are two ways', async () => {
    const { measured } = await measure({ kernel: { us: 10 } }, 'off');
    expect(measured).not.toHaveProperty('serialUs');
    expect(measured).toMatchObject({ chosen: 'fused' });
    expect((measured?.separateUs ?? 0) - (measured?.fusedUs ?? 0)).toBeCloseTo(30, 6);
  });
});
