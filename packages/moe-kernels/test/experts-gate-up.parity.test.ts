import {
  describeEachBackend,
  download,
  downloadRaw,
  expectClose,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { resolveSwiglu } from '../src/arguments/swiglu-config.js';
import { expertsGateUp, loadMoeKernels, permute } from '../src/index.js';
import { expertsCases } from './cases/experts-gate-up.js';
import { swigluCases } from './cases/swiglu.js';
import { makeExperts, uploadWeight } from './makers/experts.js';
import { poisoned } from './makers/poisoned-allocator.js';
import { referenceGateUp } from './reference/experts-gate-up.js';
import { referencePermute } from './reference/permute.js';
import { activationTolerance } from './tolerance.js';

describeEachBackend('expertsGateUp', expertsCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const {
    tokens,
    k,
    experts,
    hidden,
    intermediate,
    activations,
    swiglu = {},
    every = 1,
  } = testCase;
  const data = makeExperts(testCase);
  const allocator = poisoned(stream);
  const ids = upload(stream, data.ids, [tokens, k], 'i32');
  const permutation = permute(ids, { numExperts: experts }, { stream });
  const x = upload(stream, data.x, [tokens, hidden], activations);
  const w13 = uploadWeight(stream, data.w13);
  const y = expertsGateUp({ hidden: x, w13, permutation }, swiglu, { stream, allocator });

  const actual = await download(stream, y);
  const map = referencePermute(data.ids, { offset: 0, local: experts, tileRows: 1 });
  const [is, should]: [number[], number[]] = [[], []];
  map.tiles.forEach(([expert = 0, row = 0]) => {
    const token = Math.floor((map.rows[row] ?? 0) / k);
    const xRow = data.x.subarray(token * hidden, (token + 1) * hidden);
    for (let c = row % every; c < intermediate; c += every) {
      is.push(Number(actual[row * intermediate + c]));
      should.push(referenceGateUp(xRow, expert, c, data.reference, resolveSwiglu(swiglu, 'test')));
    }
  });
  expectClose(is, should, activationTolerance(should, activations));
  const written = (map.offsets.at(-1) ?? 0) * intermediate * (activations === 'bf16' ? 2 : 4);
  const behind = (await downloadRaw(stream, y)).subarray(written);
  expect(behind.every((byte) => byte === 0xa5)).toBe(true);
});

describeEachBackend('SwiGLU-OAI', swigluCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { gate, up, swiglu = {}, expected } = testCase;
  const ids = upload(stream, [0], [1, 1], 'i32');
  const permutation = permute(ids, { numExperts: 1 }, { stream });
  const hidden = upload(stream, [gate, up], [1, 2], 'f32');
  const w13 = { data: upload(stream, [1, 0, 0, 1], [1, 2, 2], 'f32') };
  const y = expertsGateUp({ hidden, w13, permutation }, swiglu, { stream });
  // exp of an argument of 34 carries 34 units of the argument's last place.
  const actual = (await download(stream, y)) as Float32Array;
  expectClose(actual, [expected], { relative: 1e-5 });
});
