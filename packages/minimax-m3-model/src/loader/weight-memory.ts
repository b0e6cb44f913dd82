/** How much memory weights take, for the error when it is not there. */

import type { OutOfMemoryError } from '@altstream/cuda-runtime';
import type { ModelConfig } from '../config/model-config.js';
import { ModelMemoryError } from '../errors/index.js';
import { listDummyTensors } from './dummy/dummy-tensors.js';
import type { TensorParallel } from './shard.js';

/** Bytes of weights by place in the model, before sharding, as the release stores them. */
export interface WeightBytes {
  readonly embedding: number;
  readonly head: number;
  /** One entry a layer. */
  readonly layers: readonly number[];
}

/** Ranks beyond this bring nothing: KV heads are copied, and blocks of MXFP8 are not cut. */
const mostRanks = 64;

/** The weights of a config in bytes. */
export function weightBytes(config: ModelConfig): WeightBytes {
  const layers = config.layers.map(() => 0);
  const ends = { embedding: 0, head: 0 };
  for (const { name, bytes } of listDummyTensors(config)) {
    const layer = /\.layers\.(\d+)\./.exec(name)?.[1];
    if (layer !== undefined) layers[Number(layer)] = (layers[Number(layer)] ?? 0) + bytes;
    else ends[name.includes('embed_tokens') ? 'embedding' : 'head'] += bytes;
  }
  return { ...ends, layers };
}

/**
 * An out-of-memory error of a load, with what would have fitted.
 *
 * @param freeBytes before the load
 * @param isSummed false when the rank keeps the whole embedding
 */
export function weightsDoNotFit(
  cause: OutOfMemoryError,
  config: ModelConfig,
  where: {
    readonly freeBytes: number;
    readonly tensorParallel: TensorParallel;
    readonly isSummed: boolean;
  },
): ModelMemoryError {
  const { freeBytes, tensorParallel, isSummed } = where;
  const { rank, size } = tensorParallel;
  const whole = weightBytes(config);
  const bytes = (ranks: number, layers: number) =>
    (isSummed || ranks === 1 ? whole.embedding / ranks : whole.embedding) +
    whole.head / ranks +
    whole.layers.slice(0, layers).reduce((sum, one) => sum + one, 0) / ranks;
  const layers = whole.layers.length;
  const fits = (count: number) => bytes(size, count) <= freeBytes;
  const layersThatFit = whole.layers.filter((_, layer) => fits(layer + 1)).length;
  const ranks = Array.from({ length: mostRanks }, (_, i) => i + 1);
  const ranksThatFit = ranks.find((count) => bytes(count, layers) <= freeBytes);
  const neededBytes = Math.round(bytes(size, layers));
  const what = size > 1 ? `the weights of rank ${rank} of ${size}` : 'the weights';
  const remedies = [
    layersThatFit > 0 && `the first ${layersThatFit} of ${layers} layers (num_hidden_layers)`,
    ranksThatFit !== undefined && ranksThatFit > size && `one rank of ${ranksThatFit}`,
  ].filter(Boolean);
  const would = remedies.length > 0 ? remedies.join(', or ') : 'nothing of it';
  return new ModelMemoryError(
    `${what} take about ${gib(neededBytes)}, but the device has ${gib(freeBytes)} free; ` +
      `what would fit: ${would}`,
    { facts: { neededBytes, freeBytes, layers, layersThatFit, ranksThatFit }, cause },
  );
}

function gib(bytes: number): string {
  const value = bytes / 2 ** 30;
  return value >= 0.1 ? `${value.toFixed(1)} GiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
