import { type Stream, Tensor } from '@altstream/cuda-runtime';
import { describeEachBackend, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { expertsDown, expertsGateUp, loadMoeKernels, permute } from '../../src/index.js';
import type { ExpertsCase } from '../cases/experts-gate-up.js';
import { makeExperts, uploadWeight } from '../makers/experts.js';

const shape = { tokens: 40, k: 2, experts: 4, hidden: 192, intermediate: 128 };
const cases = (['mxfp8', 'bf16'] as const).map(
  (weights): ExpertsCase => ({ name: weights, ...shape, weights, activations: 'bf16' }),
);

/** A copy of a tensor that begins one element behind a multiple of 16 bytes. */
function shifted(stream: Stream, tensor: Tensor): Tensor {
  const { elements, dtype } = tensor;
  const size = tensor.bytes / elements;
  const buffer = stream.tensor([tensor.bytes + size], 'u8');
  const copy = Tensor.of(buffer, tensor.shape, dtype, { byteOffset: size });
  stream.copy(copy, tensor);
  return copy;
}

// A view may begin anywhere that its dtype allows; the bits are the same.
describeEachBackend('experts of odd address', cases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, experts, hidden } = testCase;
  const data = makeExperts(testCase);
  const ids = upload(stream, data.ids, [tokens, k], 'i32');
  const permutation = permute(ids, { numExperts: experts }, { stream });
  const x = upload(stream, data.x, [tokens, hidden], 'bf16');
  const [w13, w2] = [uploadWeight(stream, data.w13), uploadWeight(stream, data.w2)];
  const y = expertsGateUp({ hidden: x, w13, permutation }, {}, { stream });
  const [right, sum] = await Promise.all([
    downloadRaw(stream, y),
    downloadRaw(stream, expertsDown({ y, w2, permutation }, { stream })),
  ]);
  for (const weights of [
    { w13, w2 },
    { w13: move(w13), w2: move(w2) },
  ]) {
    const input = { hidden: shifted(stream, x), w13: weights.w13, permutation };
    expect(await downloadRaw(stream, expertsGateUp(input, {}, { stream }))).toEqual(right);
    const rows = { y: shifted(stream, y), w2: weights.w2, permutation };
    expect(await downloadRaw(stream, expertsDown(rows, { stream }))).toEqual(sum);
  }

  function move<T extends { readonly data: Tensor }>(weight: T): T {
    return { ...weight, data: shifted(stream, weight.data) };
  }
});
