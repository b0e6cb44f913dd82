import { open } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { Engine, MarkovModel, MockEngine } from '../../src/index.js';
import { measureStepHeap } from '../makers/step-heap.js';

/**
 * What it is here, and a fifth more; the loader of sources keeps names, so it is a little more than
 * the README says of the built package.
 */
const mostBytes = { step: 4600, row: 140 };
const maxPositions = 4096;
const steps = 1600;

describe.each([1, 32])('what a decode step of %i rows allocates', (rows) => {
  const most = mostBytes.step + rows * mostBytes.row;
  const limits = { maxSequences: rows, maxPartialPrefills: rows };

  it('is bounded for a mock engine', async () => {
    const engine = await MockEngine.create({ ...limits, maxPositions });
    const { median } = await measureStepHeap(engine, rows, steps);
    await engine.close();
    expect(median).toBeGreaterThan(0);
    expect(median).toBeLessThan(most);
  });

  it('is bounded for a model with decode graphs', async () => {
    const runtime = await open({ backend: 'cpu' });
    const model = await MarkovModel.create(runtime, new Float32Array(64 * 64), { maxPositions });
    const pages = (rows * maxPositions) / model.pageTokens;
    const engine = await Engine.create({ ...limits, model, graphSizes: [rows], pages });
    const { median } = await measureStepHeap(engine, rows, steps);
    await engine.close();
    model.dispose();
    await runtime.dispose();
    expect(median).toBeGreaterThan(0);
    expect(median).toBeLessThan(most);
  });
});
