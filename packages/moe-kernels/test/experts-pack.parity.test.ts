import { Tensor } from '@altstream/cuda-runtime';
import { describeEachBackend, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { expertsPack } from '../src/experts-pack.js';
import { planExpertsPack } from '../src/experts-pack.plan.js';
import { loadMoeKernels } from '../src/index.js';
import { withoutPdl } from '../src/pdl.js';
import { expertsPackCases } from './cases/experts-pack.js';
import { referenceExpertsPack } from './reference/experts-pack.js';

describeEachBackend('expertsPack', expertsPackCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { weights, rows, columns, offset = 0 } = testCase;
  const bits = Uint16Array.from({ length: rows * columns }, (_, i) => (i * 40503) % 65521);
  const shifted = new Uint16Array([...new Uint16Array(offset / 2), ...bits]);
  const buffer = upload(stream, shifted, [shifted.length], 'bf16');
  const x = Tensor.of(buffer.buffer, [rows, columns], 'bf16', { byteOffset: offset });
  const packed = stream.tensor([rows * columns * 2], 'u8');
  stream.fill(packed, 0xff);
  const plan = planExpertsPack({ tokens: rows, ...testCase }, stream.device.limits, withoutPdl);
  expertsPack(stream, plan, x, packed);
  const bytes = await downloadRaw(stream, packed);
  expect(new Uint16Array(bytes.buffer)).toEqual(referenceExpertsPack(bits, columns, weights));
});
