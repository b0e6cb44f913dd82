import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from '@altstream/cuda-runtime';
import {
  flatConfig,
  fromBf16,
  hashConfig,
  hashTensors,
  hashTokens,
  quantizedConfig,
  type StoredTensor,
  writeSafetensors,
} from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { transformersNames, withoutPrefix } from './makers/other-spellings.js';
import { Session } from './makers/session.js';

const folder = makeFolders();
const load = makeModels();
const bf16 = [...hashTensors(hashConfig('T32'))];
const mxfp8 = [...hashTensors(hashConfig('T32'), { mxfp8: true })];
const prefix = 'language_model.model.layers.';

/** A T32 folder with other tensors in it. */
async function withTensors(tensors: readonly StoredTensor[], flat = false): Promise<string> {
  const directory = await folder({ model: 'T32' });
  await writeSafetensors(directory, tensors);
  const isMx = tensors.some(({ dtype }) => dtype === 'F8_E4M3');
  const config = isMx ? quantizedConfig(hashConfig('T32')) : hashConfig('T32');
  const json = JSON.stringify(flat ? flatConfig(config) : config);
  await writeFile(join(directory, 'config.json'), json);
  return directory;
}

/** Replaces, or with undefined removes, one tensor. */
function replaced(
  tensors: readonly StoredTensor[],
  name: string,
  change?: Partial<StoredTensor>,
): StoredTensor[] {
  return tensors.flatMap((tensor) =>
    tensor.name !== name ? [tensor] : change ? [{ ...tensor, ...change }] : [],
  );
}

async function logitsOf(tensors: readonly StoredTensor[], flat = false) {
  const model = await load({ directory: await withTensors(tensors, flat) });
  const session = new Session(model, 1, 40);
  const [rows = []] = await session.run([{ sequence: 0, tokens: hashTokens(40, 256) }]);
  return { model, last: rows.at(-1) ?? new Float32Array() };
}

describe('spellings of a checkpoint', () => {
  it.each([
    ['without `language_model.`', withoutPrefix, bf16],
    ['of transformers 5, packed', transformersNames, bf16],
    ['of transformers 5, packed, MXFP8', transformersNames, mxfp8],
  ])('names %s give the same logits', async (_, rename, tensors) => {
    const renamed = rename(tensors);
    expect(renamed.length).toBeLessThanOrEqual(tensors.length);
    const { model, last } = await logitsOf(renamed, true);
    expect(model.report.unused).toEqual([]);
    expect(worst(last, (await logitsOf(tensors)).last)).toBe(0);
  });

  it('may be all in f32', async () => {
    const widened = bf16.map((tensor): StoredTensor => {
      if (tensor.dtype !== 'BF16') return tensor;
      const { bytes } = tensor;
      const values = fromBf16(new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2));
      return { ...tensor, dtype: 'F32', bytes: new Uint8Array(values.buffer) };
    });
    const { model, last } = await logitsOf(widened);
    expect(model.report.storage).toMatchObject({ bf16: 0, mxfp8: 0 });
    expect(worst(last, (await logitsOf(bf16)).last)).toBeLessThan(1e-5);
  });

  it('keeps a router that is stored in bf16 in f32', async () => {
    const gate = `${prefix}1.block_sparse_moe.gate.weight`;
    const wide = bf16.find(({ name }) => name === gate) as StoredTensor;
    const bits = new Uint16Array(new Uint8Array(wide.bytes).buffer).filter((_, i) => i % 2 === 1);
    const narrow = { dtype: 'BF16' as const, bytes: new Uint8Array(bits.buffer) };
    const { model } = await logitsOf(replaced(bf16, gate, narrow));
    expect(model.report.conversions).toMatchObject([{ tensor: gate, from: 'BF16', to: 'f32' }]);
  });

  it('joins q, k and v that are stored differently, without loss', async () => {
    const name = `${prefix}0.self_attn.k_proj.weight`;
    const own = mxfp8.find((tensor) => tensor.name === name) as StoredTensor;
    const plain = bf16.find((tensor) => tensor.name === name) as StoredTensor;
    const mixed = replaced(replaced(mxfp8, `${name}_scale_inv`), own.name, plain);
    const { model } = await logitsOf(mixed);
    const converted = model.report.conversions.map(({ tensor }) => tensor);
    expect(converted).toEqual(['q_proj', 'v_proj'].map((p) => `${prefix}0.self_attn.${p}.weight`));
  });
});

describe('the load report', () => {
  it('counts what the text model does not use', async () => {
    const extra = (name: string): StoredTensor => ({
      name,
      dtype: 'F32',
      shape: [2],
      bytes: new Uint8Array(8),
    });
    const names = ['vision_tower.vision_model.pre_layrnorm.bias', 'patch_merge_mlp.linear_1.bias'];
    const others = ['language_model.model.mtp.0.norm.weight', 'strange.weight'];
    const { model } = await logitsOf([...bf16, ...[...names, ...others].map(extra)]);
    const { used, vision, mtp, unused, storage } = model.report;
    expect(used.tensors).toBe(133);
    expect(vision).toEqual({ tensors: 2, bytes: 16 });
    expect(mtp).toEqual({ tensors: 1, bytes: 8 });
    expect(unused).toEqual(['strange.weight']);
    expect(storage.mxfp8).toBe(0);
  });

  it('tells progress up to the last byte', async () => {
    const seen: number[] = [];
    const directory = await folder({ model: 'T32', mxfp8: true, shards: 2 });
    let total = 0;
    const onProgress = (p: { bytes: number; totalBytes: number }) => {
      seen.push(p.bytes);
      total = p.totalBytes;
    };
    const { report } = await load({ directory, onProgress });
    expect(seen.at(-1)).toBe(total);
    expect(report).toMatchObject({ files: 2, used: { tensors: 237, bytes: total } });
  });

  it('stops when asked to', async () => {
    const directory = await folder({ model: 'T32' });
    await expect(load({ directory, signal: AbortSignal.abort() })).rejects.toThrow('abort');
  });
});

describe('a checkpoint that does not fit its config', () => {
  it('leaves nothing on the device', async () => {
    const runtime = await open({ backend: 'cpu', isolated: true });
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
