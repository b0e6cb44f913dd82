import {
  type BackendContext,
  describeEachBackend,
  downloadRaw,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { finalize, loadMoeKernels, PdlPolicy, permute, topkPermute } from '../../src/index.js';
import { poisoned } from '../makers/poisoned-allocator.js';

const experts = 128;
const config = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 } as const;
const rounds = 20;

/** Kernels that make the logits of each round, that choose by them, and that read the maps. */
async function run({ stream, runtime, device }: BackendContext, tokens: number, isEarly: boolean) {
  await loadMoeKernels(runtime);
  const random = seededRandom(tokens);
  // On the CPU programmatic launches gain nothing and have to be asked for; before Hopper there are
  // none.
  const mode = device.limits.cpuLevel === '' ? 'auto' : 'on';
  const pdl = new PdlPolicy({ mode: isEarly ? mode : 'off', maxTokens: -1 }, {}).chooser('bf16');
  const on = { stream, allocator: poisoned(stream), pdl };
  const routingBias = upload(stream, random.floats(experts, 0.5), [experts], 'f32');
  const weights = upload(stream, new Float32Array(tokens * 2).fill(1), [tokens, 2], 'f32');
  const ids = Array.from({ length: tokens * 2 }, (_, i) => i % 2);
  const { slots } = permute(upload(stream, ids, [tokens, 2], 'i32'), { numExperts: 2 }, { stream });
  const terms = Array.from({ length: rounds }, () =>
    upload(stream, random.floats(tokens * 2 * experts, 2), [tokens * 2, experts], 'f32'),
  );
  await stream.synchronize();
  const results = terms.map((expertOut) => {
    const logits = finalize({ expertOut, slots, weights }, on);
    const routed = topkPermute({ logits, routingBias }, config, { numExperts: experts }, on);
    // Before Hopper a GPU has no such launches.
    const canBeEarly = device.limits.cpuLevel !== '' || Number(device.limits.sm) >= 9;
    expect(routed.plan.steps[0]?.pdl.enabled).toBe(isEarly && canBeEarly);
    const again = permute(routed.topk.ids, { numExperts: experts }, on);
    return { ...routed.topk, ...routed.permutation, again: again.rows };
  });
  const bytes: Uint8Array[] = [];
  for (const { ids: chosen, weights: parts, offsets, rows, slots: places, again } of results) {
    for (const tensor of [chosen, parts, offsets, rows, places, again]) {
      bytes.push(await downloadRaw(stream, tensor));
    }
  }
  return bytes;
}

// Launched early, the kernel works before its logits are there; none of that may be seen.
describeEachBackend(
  'topkPermute launched before its logits are written has the same bits,',
  [1, 2, 7, 16, 32].map((tokens) => ({ name: `${tokens} tokens`, tokens })),
  async (context, { tokens }) => {
    const late = await run(context, tokens, false);
    const early = await run(context, tokens, true);
    expect(early).toEqual(late);
  },
);
