// Bytes of JavaScript's heap that a decode step of the built package allocates. Sources would be
// run with names kept by the loader, which costs more.
//
//   node --expose-gc --import tsx packages/engine/bench/step-heap.bench.ts

import { open } from '@altstream/cuda-runtime';
import { Engine, MarkovModel, MockEngine } from '@altstream/engine';
import { measureStepHeap } from '../test/makers/step-heap.js';

const vocab = 256;
const steps = 3200;
const maxPositions = 8192;
const runtime = await open({ backend: 'cpu' });
const logits = new Float32Array(vocab * vocab);
for (let id = 0; id < vocab; id += 1) logits[id * vocab + ((id + 1) % vocab)] = 50;
const model = await MarkovModel.create(runtime, logits, { maxPositions });
for (const count of [1, 8, 64]) {
  const limits = { maxSequences: count, maxPartialPrefills: count };
  const mock = await MockEngine.create({ ...limits, maxPositions });
  await measure('mock', mock, count);
  const pages = (count * maxPositions) / 16;
  await measure(
    'graph',
    await Engine.create({ ...limits, model, graphSizes: [count], pages }),
    count,
  );
}
model.dispose();
await runtime.dispose();

async function measure(path: string, engine: Engine, count: number): Promise<void> {
  const { median, p90 } = await measureStepHeap(engine, count, steps);
  await engine.close();
  const [most, high] = [median, p90].map(Math.round);
  process.stdout.write(`${path}, ${count} rows: ${most} bytes a step (p90 ${high})\n`);
}
