// Batches whose sizes are random too: what nobody thought of writing down as a case.
import { seededRandom } from '@altstream/cuda-runtime/testing';
import { freshSeed } from './fresh-seed.js';
import type { PagedBatchSpec } from './paged-batch.js';

/** A random batch and how many blocks are chosen. */
export interface RandomSpec extends PagedBatchSpec {
  readonly name: string;
  readonly topkBlocks: number;
}

/** `count` random batches, named by seed and sizes. */
export function randomSpecs(count: number): readonly RandomSpec[] {
  return Array.from({ length: count }, (_, i) => randomSpec(freshSeed + i));
}

function randomSpec(seed: number): RandomSpec {
  const random = seededRandom(seed);
  const upTo = (most: number) => random.integer(1, most + 1);
  const kvHeads = upTo(4);
  const heads = kvHeads * upTo(20);
  const headDim = upTo(160);
  const pageTokens = upTo(70);
  const sequences = Array.from({ length: upTo(4) }, () => {
    const context = upTo(120);
    return { context, tokens: upTo(Math.min(context, 8)) };
  });
  const dtype = random.integer(0, 2) === 0 ? 'f32' : 'bf16';
  const sizes = `${heads}/${kvHeads} heads of ${headDim}, pages of ${pageTokens}`;
  return {
    name: `seed ${seed}: ${dtype}, ${sizes}, ${sequences.length} sequences`,
    seed,
    dtype,
    heads,
    kvHeads,
    headDim,
    indexHeads: kvHeads,
    indexDim: upTo(140),
    pageTokens,
    sequences,
    padding: random.integer(0, 3),
    interleaved: random.integer(0, 2) === 0,
    topkBlocks: upTo(6),
  };
}
