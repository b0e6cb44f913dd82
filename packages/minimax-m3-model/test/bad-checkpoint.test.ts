import { open } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import type { StoredTensor } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import { bf16, makeT32, mxfp8, prefix, replaced } from './makers/t32.js';

onEachBackend((backend) => {
  const { folder, withTensors } = makeT32(backend);

  it('a load that fails leaves nothing on the device', async () => {
    const runtime = await open({ backend, isolated: true });
    const good = await folder({ model: 'T32' });
    const cut = await withTensors(replaced(bf16, `${prefix}3.block_sparse_moe.gate.weight`));
    const model = await MiniMaxM3Model.load({ runtime, directory: good });
    model.dispose();
    await runtime.device().synchronize();
    const before = runtime.stats().bytesInUse;
    const loading = MiniMaxM3Model.load({ runtime, directory: cut });
    await expect(loading).rejects.toThrow('gate.weight');
    const aborted = MiniMaxM3Model.load({ runtime, directory: good, signal: AbortSignal.abort() });
    await expect(aborted).rejects.toThrow('abort');
    await runtime.device().synchronize();
    expect(runtime.stats().bytesInUse).toBe(before);
    await runtime.dispose();
  });
});

// Refused before anything is on a device: one backend says it all.
describe('a checkpoint that does not fit its config', () => {
  const { load, withTensors } = makeT32('cpu');
  const q = `${prefix}0.self_attn.q_proj.weight`;
  const w2 = `${prefix}2.block_sparse_moe.experts.5.w2.weight`;
  it.each([
    ['a missing weight', replaced(bf16, w2), 'TENSOR_MISSING', w2],
    [
      'a missing shared expert',
      replaced(bf16, `${prefix}1.block_sparse_moe.shared_experts.gate_proj.weight`),
      'TENSOR_MISSING',
      'shared_experts',
    ],
    [
      'no embedding',
      replaced(bf16, 'language_model.model.embed_tokens.weight'),
      'TENSOR_MISSING',
      'embed_tokens',
    ],
    ['no head', replaced(bf16, 'language_model.lm_head.weight'), 'TENSOR_MISSING', 'lm_head'],
    ['missing scales', replaced(mxfp8, `${w2}_scale_inv`), 'TENSOR_MISSING', `${w2}_scale_inv`],
    [
      'a weight in f16',
      replaced(bf16, q, { dtype: 'F16' }),
      'DTYPE',
      'is F16, expected BF16 or F32 or F8_E4M3',
    ],
    [
      'a transposed weight',
      replaced(bf16, w2, { shape: [32, 64] }),
      'SHAPE',
      '[32, 64], expected [64, 32]',
    ],
    [
      'a norm of rank 2',
      replaced(bf16, `${prefix}0.input_layernorm.weight`, { shape: [1, 64] }),
      'SHAPE',
      'expected [64]',
    ],
    [
      'scales of the wrong shape',
      replaced(mxfp8, `${q}_scale_inv`, { shape: [2, 256] }),
      'SHAPE',
      'expected [256, 2]',
    ],
    [
      'scales for a bf16 weight',
      [
        ...bf16,
        {
          name: `${q}_scale_inv`,
          dtype: 'U8',
          shape: [1],
          bytes: new Uint8Array(1),
        } as StoredTensor,
      ],
      'DTYPE',
      'has scales for it',
    ],
  ])('is refused: %s', async (_, tensors, code, words) => {
    const directory = await withTensors(tensors);
    const error = await load({ directory }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: `MODEL_CHECKPOINT_${code}` });
    expect((error as Error).message).toContain(words);
  });
});
