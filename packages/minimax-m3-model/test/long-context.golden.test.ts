// Beyond 16 blocks of 128 tokens the sparse layers of the release leave blocks out: here with its
// numbers of blocks and a width that the float64 reference can follow.
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { type ConfigJson, hashConfig, hashTensors, hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../src/config.js';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Recorder } from './makers/recorder.js';
import { Session } from './makers/session.js';
import { type ReferenceRun, referenceModel } from './reference/model.js';
import { referenceWeights } from './reference/weights.js';

const length = 2400;
const chosen = 16;
const vocab = 256;
const sparseLayers = [1, 2];
const tokens = hashTokens(length, vocab);
const base = hashConfig('T32');
const text = base['text_config'] as ConfigJson;
const config: ConfigJson = {
  ...base,
  text_config: {
    ...text,
    num_hidden_layers: 3,
    num_attention_heads: 4,
    max_position_embeddings: 4096,
    moe_layer_freq: [0, 1, 1],
    sparse_attention_config: {
      ...(text['sparse_attention_config'] as ConfigJson),
      sparse_block_size: 128,
      sparse_topk_blocks: chosen,
      sparse_attention_freq: [0, 1, 1],
      sparse_disable_index_value: [0, 1, 1],
    },
  },
};

let reference: ReferenceRun | undefined;

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe('a context of 2400 tokens', () => {
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
      for (const layer of sparseLayers) {
        for (let token = before; token < whole; token += 7) {
          const groups = await recorder.blocks(layer, token - before);
          expect(groups).toEqual(reference.blocks[layer]?.[token]);
          const { ids } = await recorder.experts(layer, token - before);
          expect(ids).toEqual(reference.experts[layer]?.[token]);
          for (const blocks of groups) {
            expect(blocks).toHaveLength(chosen);
            if (Math.floor(token / 128) >= chosen) dropped++;
          }
        }
      }
      expect(dropped).toBeGreaterThan(100);
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
});
