import { describeEachBackend, downloadRaw } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import type { ExpertsCase } from './cases/experts-gate-up.js';
import { makeExperts } from './makers/experts.js';
import { makeRoutedExperts, uploadInput } from './makers/routed-experts.js';

const shape = { k: 2, experts: 8, hidden: 64, intermediate: 128 };
const few = { ...shape, tokens: 9 };
/** Two more launches where warpgroups multiply: activations are reordered. */
const many = { ...shape, tokens: 160 };
const cases = (['mxfp8', 'bf16'] as const).flatMap((weights) => [
  { ...few, weights, name: `${weights}: 3 at the limit`, limit: 9, edges: 3 },
  { ...few, weights, name: `${weights}: none above it`, limit: 8, edges: 0 },
  { ...many, weights, name: `${weights}: 3 or 5 at the limit`, limit: 160, edges: 5 },
  { ...many, weights, name: `${weights}: none above it, many tokens`, limit: 159, edges: 0 },
]);

// The count of programmatic edges, and bits that do not depend on them (sglang#34542).
describeEachBackend(
  'programmatic edges of a captured call,',
  cases,
  async (context, { limit, edges, ...rest }) => {
    const { stream, device } = context;
    const testCase: ExpertsCase = { ...rest, activations: 'bf16' };
    const data = makeExperts(testCase);
    // On the CPU they gain nothing and have to be asked for; before Hopper there are none.
    const { sm, cpuLevel } = device.limits;
    const mode = cpuLevel === '' ? 'auto' : 'on';
    const hasEdges = cpuLevel !== '' || Number.parseFloat(sm) >= 9;
    const most = sm === '9.0' ? 5 : 3;
    const expected = hasEdges ? Math.min(edges, most) : 0;
    const early = await makeRoutedExperts(context, testCase, data, {
      pdl: { mode, maxTokens: limit },
    });
    const late = await makeRoutedExperts(context, testCase, data, { pdl: { mode: 'off' } });
    const input = uploadInput(context, testCase, data);
    const outs = [early, late].map(() => stream.tensor([rest.tokens, shape.hidden], 'bf16'));
    await stream.synchronize();
    const graphs = [early, late].map((experts, i) =>
      device.capture((captured) => {
        const out = outs[i];
        experts.forward(input, { stream: captured, allocator: stream, ...(out ? { out } : {}) });
      }),
    );
    const counts = graphs.map(
      (graph) => graph.edges.filter(({ type }) => type === 'programmatic').length,
    );
    expect(counts).toEqual([expected, 0]);
    for (const graph of graphs) (await graph.instantiate()).launch(stream);
    const [first, second] = await Promise.all(outs.map((out) => downloadRaw(stream, out)));
    expect(first).toEqual(second);
  },
);
