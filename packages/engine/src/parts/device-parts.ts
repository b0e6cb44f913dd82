import { loadDenseKernels } from '@altstream/dense-kernels';
import { type SettledOptions, withPages } from '../engine-options.js';
import { GraphRunner } from '../graph-runner.js';
import { createCache, pagesOfSequence, sizeCache } from '../memory/cache.js';
import { PrefillRunner } from '../prefill-runner.js';
import type { EngineParts } from './engine-parts.js';

/**
 * Operations of a step under way behind which the next one fits into any queue that it fits into
 * alone.
 */
const fewPending = 64;

/**
 * The parts of an engine whose model runs on a device: the cache, sized and allocated, and the
 * runners, with the decode graphs captured.
 *
 * @throws MemoryError, and what the device throws; nothing stays allocated then
 */
export async function deviceParts(asked: SettledOptions): Promise<EngineParts> {
  const { model } = asked;
  await loadDenseKernels(model.runtime);
  const made: { dispose(): void }[] = [];
  const keep = <T extends { dispose(): void }>(part: T): T => {
    made.unshift(part);
    return part;
  };
  const dispose = (): void => {
    for (const part of made) part.dispose();
  };
  const stream = keep(model.device.createStream({ name: 'engine' }));
  try {
    const size = await sizeCache(asked, stream);
    const options = withPages(asked, size);
    const cache = keep(createCache(options, size.pages));
    const { maxEntries, graphSizes, maxSequences, lookAhead, logprobsMode } = options;
    const maxPages = pagesOfSequence(options);
    const parts = { model, cache, stream, maxPages, maxEntries, logprobsMode };
    const maxRows = Math.max(maxSequences, ...graphSizes);
    const prefill = keep(
      new PrefillRunner({
        ...parts,
        maxTokens: options.maxBatchedTokens,
        maxSequences: options.maxPartialPrefills,
      }),
    );
    const buckets = graphSizes;
    const decode = keep(new GraphRunner({ ...parts, buckets, maxRows, lookAhead, drawn: prefill }));
    await decode.capture();
    const ready = (): Promise<void> | undefined =>
      stream.pending >= fewPending ? stream.ready(fewPending) : undefined;
    return { options, pages: cache.pages, decode, prefill, ready, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
