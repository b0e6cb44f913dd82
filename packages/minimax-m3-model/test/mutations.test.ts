import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import {
  type ConfigJson,
  hashConfig,
  hashTensors,
  writeSafetensors,
} from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { readGolden, worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);
  const golden = readGolden('T32');

  /** Largest logit difference to the goldens when the same weights run under another config. */
  async function difference(text: ConfigJson, sparse: ConfigJson = {}): Promise<number> {
    const directory = await folder({ model: 'T32' });
    const base = hashConfig('T32');
    const nested = base['text_config'] as ConfigJson;
    const sparsePart = { ...(nested['sparse_attention_config'] as ConfigJson), ...sparse };
    const config = { ...nested, ...text, sparse_attention_config: sparsePart };
    await writeFile(
      join(directory, 'config.json'),
      JSON.stringify({ ...base, text_config: config }),
    );
    await writeSafetensors(directory, [...hashTensors(base)]);
    const session = new Session(await load({ directory }), 1, 90);
    const [rows = []] = await session.run([{ sequence: 0, tokens: golden.token_ids }]);
    const positions = Object.entries(golden.logits);
    return Math.max(...positions.map(([p, logits]) => worst(rows[Number(p)] ?? [], logits)));
  }

  describe('the goldens see', () => {
    it('no difference without a change', async () => {
      expect(await difference({})).toBeLessThan(1e-4);
    });

    it.each([
      ['another alpha', { swiglu_alpha: 1 }, {}],
      ['no clamp', { swiglu_limit: 1e9 }, {}],
      ['full-width rotation', { rotary_dim: 32, partial_rotary_factor: 1 }, {}],
      ['another theta', { rope_theta: 1e4 }, {}],
      ['an ignored routing bias', { use_routing_bias: false }, {}],
      ['one expert more per token', { num_experts_per_tok: 3 }, {}],
      ['no routed scale', { routed_scaling_factor: 1 }, {}],
      ['another epsilon', { rms_norm_eps: 1e-2 }, {}],
      ['one block more', {}, { sparse_topk_blocks: 5 }],
      ['larger blocks', {}, { sparse_block_size: 16 }],
      ['one more forced block', {}, { sparse_local_block: 2 }],
      ['dense instead of sparse attention', {}, { use_sparse_attention: false }],
    ])('%s', async (_, text, sparse) => {
      expect(await difference(text, sparse)).toBeGreaterThan(1e-2);
    });
  });
});
