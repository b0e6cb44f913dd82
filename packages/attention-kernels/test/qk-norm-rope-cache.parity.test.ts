import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { describeEachBackend, downloadRaw } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { kvWrite, loadAttentionKernels, qkNormRope } from '../src/index.js';
import { qkNormRopeCases } from './cases/qk-norm-rope.js';
import { makeHeads, uploadHeads } from './makers/qk-norm-rope-input.js';

const pages = 3;
const pageTokens = 4;
// Padding rows without a slot and with one, a slot behind the cache, and others in no order.
const slotsOf = [7, 0, 11, 3, -1, 12, 5, 2];

/** A cache of NaN. */
function makeCache(stream: Stream, shape: readonly number[], like: Tensor): Tensor {
  const cache = stream.tensor([pages, pageTokens, ...shape], like.dtype);
  stream.fill(cache, 0xff);
  return cache;
}

describeEachBackend(
  'qkNormRope with a cache has the bits of qkNormRope and kvWrite',
  qkNormRopeCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const { kvHeads, headDim, indexDim, rotaryDim, positions } = testCase;
    const { v, ...input } = uploadHeads(stream, testCase, makeHeads(testCase));
    const slots = stream.tensor([positions.length], 'i32');
    stream.write(slots, Int32Array.from(slotsOf.slice(0, positions.length)));
    const makeCaches = () => ({
      kCache: makeCache(stream, [kvHeads, headDim], v),
      vCache: makeCache(stream, [kvHeads, headDim], v),
      ...(input.indexK && { indexKeys: makeCache(stream, [indexDim], v) }),
    });
    const options = { stream, rotaryDim, theta: 5e6 };
    const apart = makeCaches();
    const { k, indexK, ...rest } = qkNormRope(input, options);
    kvWrite({ k, v, indexK, slots, ...apart }, { stream });
    const together = makeCaches();
    const outputs = qkNormRope(input, { ...options, cache: { v, slots, ...together } });
    const bytes = async (tensors: object) => {
      const all: Uint8Array[] = [];
      for (const tensor of Object.values(tensors)) all.push(await downloadRaw(stream, tensor));
      return Buffer.concat(all).toString('hex');
    };
    const { q, indexQ } = rest;
    const expected = { q, k, ...(indexQ && { indexQ }), ...(indexK && { indexK }) };
    expect(await bytes(outputs)).toBe(await bytes(expected));
    expect(await bytes(together)).toBe(await bytes(apart));
  },
);
