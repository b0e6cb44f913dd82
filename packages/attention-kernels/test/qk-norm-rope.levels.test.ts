import { type CpuLevelName, open } from '@altstream/cuda-runtime';
import { cpuLevels, downloadRaw } from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import { loadAttentionKernels, qkNormRope } from '../src/index.js';
import { type QkNormRopeCase, qkNormRopeCases } from './cases/qk-norm-rope.js';
import { makeHeads, uploadHeads } from './makers/qk-norm-rope-input.js';

type Heads = ReturnType<typeof makeHeads>;

async function run(level: CpuLevelName, testCase: QkNormRopeCase, heads: Heads): Promise<string> {
  await using runtime = await open({ backend: 'cpu', isolated: true, cpu: { level } });
  await loadAttentionKernels(runtime);
  using stream = runtime.device().createStream();
  const options = { stream, rotaryDim: testCase.rotaryDim, theta: 5e6 };
  const { q, k, indexQ, indexK } = qkNormRope(uploadHeads(stream, testCase, heads), options);
  const bytes: Uint8Array[] = [];
  for (const tensor of [q, k, indexQ, indexK]) {
    if (tensor) bytes.push(await downloadRaw(stream, tensor));
  }
  return Buffer.concat(bytes).toString('hex');
}

const [lowest, ...others] = cpuLevels();

test.each(qkNormRopeCases)('qkNormRope has the same bits on every CPU level: $name', async (c) => {
  if (!lowest) throw new Error('no CPU level');
  const heads = makeHeads(c);
  const expected = await run(lowest, c, heads);
  for (const level of others) expect(await run(level, c, heads), level).toBe(expected);
});
