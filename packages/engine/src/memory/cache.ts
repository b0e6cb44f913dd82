import { OutOfMemoryError, type Stream } from '@altstream/cuda-runtime';
import type { SettledOptions } from '../engine-options.js';
import type { ModelCache } from '../model.js';
import { type CacheSize, pagesDoNotFit, planCache, stepsDoNotFit } from './cache-size.js';
import { measureMemory } from './measure-memory.js';

/** Pages of the longest sequence. */
export function pagesOfSequence({ model, maxModelLength }: SettledOptions): number {
  return Math.ceil(maxModelLength / model.pageTokens);
}

/** The pages that were given, or those that measuring leaves room for. @throws MemoryError */
export async function sizeCache(options: SettledOptions, stream: Stream): Promise<CacheSize> {
  const { cache, demand } = options;
  if ('pages' in cache) return cache;
  const measured = await measureMemory(options, stream, pagesOfSequence(options)).catch(
    (error: unknown) => {
      if (!OutOfMemoryError.isInstance(error)) throw error;
      throw stepsDoNotFit(options.model.device.freeBytes, error);
    },
  );
  return planCache(measured, demand, cache.fraction);
}

/** Allocates them. @throws MemoryError */
export function createCache({ model, demand }: SettledOptions, pages: number): ModelCache {
  try {
    return model.createCache(pages);
  } catch (error) {
    if (!OutOfMemoryError.isInstance(error)) throw error;
    throw pagesDoNotFit(pages, model.device.freeBytes, demand, error);
  }
}
