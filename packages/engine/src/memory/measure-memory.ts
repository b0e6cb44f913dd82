import type { Stream } from '@altstream/cuda-runtime';
import type { SettledOptions } from '../engine-options.js';
import { GraphRunner } from '../graph-runner.js';
import { PrefillRunner } from '../prefill-runner.js';
import type { MeasuredMemory } from './cache-size.js';

/**
 * Runs the largest steps once, of padding only and on a cache of one page, and reads what the
 * device has left while their workspaces and the largest graph are there. All of it is freed again.
 */
export async function measureMemory(
  options: SettledOptions,
  stream: Stream,
  maxPages: number,
): Promise<MeasuredMemory> {
  const { model, graphSizes, maxSequences, maxBatchedTokens, maxPartialPrefills } = options;
  const { device } = model;
  const cache = model.createCache(1);
  const parts = { model, cache, stream, maxPages, maxEntries: options.maxEntries };
  const maxRows = Math.max(maxSequences, ...graphSizes);
  const decode = new GraphRunner({ ...parts, buckets: [], maxRows });
  const prefill = new PrefillRunner({
    ...parts,
    maxTokens: maxBatchedTokens,
    maxSequences: maxPartialPrefills,
  });
  try {
    await prefill.warmUp();
    await decode.warmUp(maxRows);
    const withoutGraph = device.freeBytes;
    const largest = graphSizes.length > 0 ? await decode.tryCapture(maxRows) : undefined;
    const freeBytes = device.freeBytes;
    largest?.dispose();
    return {
      totalBytes: device.limits.memoryBytes,
      // One graph is in place; all of them are in `graphBytes`.
      freeBytes: Math.max(freeBytes, withoutGraph),
      workspaceBytes: prefill.workspaceBytes + decode.describe().workspaceBytes,
      graphBytes: Math.max(0, withoutGraph - freeBytes) * graphSizes.length,
    };
  } finally {
    await stream.synchronize();
    decode.dispose();
    prefill.dispose();
    cache.dispose();
  }
}
