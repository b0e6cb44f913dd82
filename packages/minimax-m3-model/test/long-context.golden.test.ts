// Beyond 16 blocks of 128 tokens the sparse layers of the release leave blocks out: here with its
// numbers of blocks and a width that the float64 reference can follow.
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { type ConfigJson, hashConfig, hashTensors, hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../src/config.js';
import { bestOf, expectBfloat16Noise } from './makers/bfloat16-noise.js';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Recorder } from './makers/recorder.js';
import { Session } from './makers/session.js';
import { type ReferenceRun, referenceModel } from './reference/model.js';
import { referenceWeights } from './reference/weights.js';

const length = 2200;
const chosen = 16;
const vocab = 256;
const sparseLayer = 1;
const tokens = hashTokens(length, vocab);
const base = hashConfig('T32');
const text = base['text_config'] as ConfigJson;
const config: ConfigJson = {
  ...base,
  text_config: {
    ...text,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    max_position_embeddings: 4096,
    moe_layer_freq: [0, 1],
    sparse_attention_config: {
      ...(text['sparse_attention_config'] as ConfigJson),
      sparse_block_size: 128,
      sparse_topk_blocks: chosen,
      sparse_attention_freq: [0, 1],
      sparse_disable_index_value: [0, 1],
    },
  },
};

let reference: ReferenceRun | undefined;

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe('a context of 2200 tokens', () => {
    it('has the logits, experts and blocks of the float64 reference, in chunks and replayed', async () => {
      reference ??= referenceModel(
        parseModelConfig(config),
        referenceWeights(hashTensors(config)),
        tokens,
      );
      const model = await load({ directory: await folder({ model: config }) });
      const session = new Session(model, 1, length);
      const recorder = new Recorder();
      const whole = length - 8;
      const rows: Float32Array[] = [];
      const borders = [0, 1000, 2040, whole];
      for (const [i, start] of borders.slice(0, -1).entries()) {
        const piece = { sequence: 0, tokens: tokens.slice(start, borders[i + 1]) };
        const [more = []] = await session.run([piece], { taps: recorder.taps });
        rows.push(...more);
      }
      const before = borders.at(-2) ?? 0;
      let dropped = 0;
      for (let token = before; token < whole; token += 3) {
        const groups = await recorder.blocks(sparseLayer, token - before);
        expect(groups).toEqual(reference.blocks[sparseLayer]?.[token]);
        const { ids } = await recorder.experts(sparseLayer, token - before);
        expect(ids).toEqual(reference.experts[sparseLayer]?.[token]);
        for (const blocks of groups) {
          expect(blocks).toHaveLength(chosen);
          if (Math.floor(token / 128) >= chosen) dropped++;
        }
      }
      expect(dropped).toBeGreaterThan(80);
      const { replay } = await session.capture(1);
      for (const token of tokens.slice(whole)) {
        rows.push(...(await replay([{ sequence: 0, tokens: [token] }])).flat());
      }
      expect(rows).toHaveLength(length);
      for (const [position, row] of rows.entries()) {
        expect(worst(row, reference.logits[position] ?? [])).toBeLessThan(1e-4);
      }
    });
  });

  // The sizes that bf16 kernels are made for: full attention in layer 0, 4 of 18 blocks behind it.
  describe('T128 at 2200 tokens in bfloat16', () => {
    it('is as near to float32 as on short prompts, and the same bits in chunks and replayed', async () => {
      const directory = await folder({ model: 'T128', mxfp8: true });
      const prompt = hashTokens(length, 512);
      const wide = new Session(await load({ directory }), 1, length);
      const [exact = []] = await wide.run([{ sequence: 0, tokens: prompt }]);
      const session = new Session(await load({ directory, dtype: 'bfloat16' }), 1, length);
      const [rows = []] = await session.run([{ sequence: 0, tokens: prompt }]);
      expectBfloat16Noise(rows, exact.map(bestOf));
      session.reset();
      const again: Float32Array[] = [];
      for (const [start, end] of [
        [0, 900],
        [900, 2050],
        [2050, length - 8],
      ] as const) {
        const piece = { sequence: 0, tokens: prompt.slice(start, end) };
        again.push(...(await session.run([piece])).flat());
      }
      const { replay } = await session.capture(4);
      for (const token of prompt.slice(length - 8)) {
        again.push(...(await replay([{ sequence: 0, tokens: [token] }])).flat());
      }
      expect(again).toHaveLength(length);
      for (const [i, row] of again.entries()) expect(worst(row, rows[i] ?? [])).toBe(0);
    });
  });
});
