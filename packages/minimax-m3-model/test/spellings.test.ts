import { e4m3ToF32, onEachBackend } from '@altstream/cuda-runtime/testing';
import { fromBf16, quantizeMxfp8, type StoredTensor, toBf16 } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { worst } from './makers/golden.js';
import { transformersNames, withoutPrefix } from './makers/other-spellings.js';
import { bf16, makeT32, mxfp8, prefix, replaced } from './makers/t32.js';

onEachBackend((backend) => {
  const { logitsOf } = makeT32(backend);

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

    it('looks up a quantised embedding with its scales', async () => {
      const name = 'language_model.model.embed_tokens.weight';
      const plain = bf16.find((tensor) => tensor.name === name) as StoredTensor;
      const wide = fromBf16(new Uint16Array(new Uint8Array(plain.bytes).buffer));
      const { elements, scales } = quantizeMxfp8(wide);
      const [rows = 0, columns = 0] = plain.shape;
      const quantised: StoredTensor[] = [
        { ...plain, dtype: 'F8_E4M3', bytes: elements },
        { name: `${name}_scale_inv`, dtype: 'U8', shape: [rows, columns / 32], bytes: scales },
      ];
      const exact = toBf16(
        e4m3ToF32(elements).map((value, i) => value * 2 ** ((scales[i >> 5] ?? 0) - 127)),
      );
      const rest = replaced(bf16, name);
      const widened = { ...plain, bytes: new Uint8Array(exact.buffer) };
      const { model, last } = await logitsOf([...rest, ...quantised]);
      expect(worst(last, (await logitsOf([...rest, widened])).last)).toBe(0);
      expect(model.report.conversions).toMatchObject([{ tensor: name, to: 'bf16' }]);
    });

    it('joins q, k and v that are stored differently, without loss', async () => {
      const name = `${prefix}0.self_attn.k_proj.weight`;
      const own = mxfp8.find((tensor) => tensor.name === name) as StoredTensor;
      const plain = bf16.find((tensor) => tensor.name === name) as StoredTensor;
      const mixed = replaced(replaced(mxfp8, `${name}_scale_inv`), own.name, plain);
      const { model } = await logitsOf(mixed);
      const converted = model.report.conversions.map(({ tensor }) => tensor);
      expect(converted).toEqual(
        ['q_proj', 'v_proj'].map((p) => `${prefix}0.self_attn.${p}.weight`),
      );
    });
  });
});
