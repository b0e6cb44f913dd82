/** Loads all weights of one rank and reports what was found. */

import type { Stream } from '@altstream/cuda-runtime';
import type { ModelConfig } from '../config/model-config.js';
import { planLayer } from './layer-weights.js';
import type { LoadProgress, LoadReport, TensorCount } from './load-report.js';
import type { MatrixPart } from './matrix-part.js';
import type { Matrix, ModelWeights } from './model-weights.js';
import { checkTensorParallel, splitNearlyEvenly, type TensorParallel } from './shard.js';
import type { TensorSource } from './tensor-source.js';
import { WeightLoader } from './weight-loader.js';
import { unusedPart, WeightNames } from './weight-names.js';

/** What to load, and where to. */
export interface LoadOptions {
  readonly config: ModelConfig;
  /** Copies run in order on this stream; its device gets the weights. */
  readonly stream: Stream;
  /** Default: the whole model. */
  readonly tensorParallel?: TensorParallel;
  readonly onProgress?: LoadProgress;
  /** Stops between two tensors. */
  readonly signal?: AbortSignal;
}

/** Weights and what is known about them. */
export interface LoadedWeights {
  readonly weights: ModelWeights;
  readonly report: LoadReport;
}

/**
 * Loads the weights of a rank. The embedding is whole on every rank, since a lookup reads only the
 * rows of its tokens; the head is split over the vocabulary, since every step reads all of it.
 *
 * @throws CheckpointError when a tensor is missing or differs from the config; nothing stays allocated
 */
export async function loadWeights(
  source: TensorSource,
  options: LoadOptions,
): Promise<LoadedWeights> {
  const started = performance.now();
  const tensorParallel = checkTensorParallel(options.tensorParallel ?? { rank: 0, size: 1 });
  const loader = new WeightLoader(source, options.stream);
  try {
    const weights = planModel(source, loader, options.config, tensorParallel);
    await loader.run(options.onProgress, options.signal);
    const seconds = (performance.now() - started) / 1000;
    return { weights, report: report(source, loader, weights, seconds) };
  } catch (error) {
    loader.dispose();
    throw error;
  }
}

function planModel(
  source: TensorSource,
  loader: WeightLoader,
  config: ModelConfig,
  tensorParallel: TensorParallel,
): ModelWeights {
  const names = new WeightNames(source);
  const { vocabSize, hidden, tiedEmbeddings } = config;
  const vocab = splitNearlyEvenly(vocabSize, tensorParallel);
  const table = { rows: vocabSize, columns: hidden };
  const embedding = planEmbedding(loader, { spellings: names.embedding, ...table });
  const end = vocab.start + vocab.count;
  return {
    tensorParallel,
    embedding: embedding.data,
    layers: config.layers.map((_, layer) =>
      planLayer({ source, loader, names, config, tensorParallel, layer }),
    ),
    finalNorm: loader.vector(names.finalNorm, hidden),
    lmHead: tiedEmbeddings
      ? { data: embedding.data.slice(0, vocab.start, end), scales: undefined }
      : loader.matrix([{ spellings: names.lmHead, ...table, rowRange: vocab }]),
    vocab,
    dispose: () => loader.dispose(),
  };
}

/** Rows of a quantised table are looked up without their scales, so one is widened without loss. */
function planEmbedding(loader: WeightLoader, table: MatrixPart): Matrix {
  const stored = loader.storageOf([table]);
  return loader.matrix([table], stored === 'mxfp8' ? 'bf16' : stored);
}

function report(
  source: TensorSource,
  loader: WeightLoader,
  weights: ModelWeights,
  seconds: number,
): LoadReport {
  const vision: TensorCount = { tensors: 0, bytes: 0 };
  const mtp: TensorCount = { tensors: 0, bytes: 0 };
  const unused: string[] = [];
  for (const { name, bytes } of source.tensors.values()) {
    if (loader.usedNames.has(name)) continue;
    const part = unusedPart(name);
    if (part === undefined) unused.push(name);
    else {
      const count = part === 'vision' ? vision : mtp;
      count.tensors++;
      count.bytes += bytes;
    }
  }
  return {
    files: new Set([...source.tensors.values()].map(({ file }) => file)).size,
    used: loader.used,
    deviceBytes: loader.deviceBytes,
    vision,
    mtp,
    unused,
    storage: loader.storage,
    conversions: loader.conversions,
    sharedExpertLayers: weights.layers.filter(({ moe }) => moe?.shared).length,
    tensorParallel: weights.tensorParallel,
    seconds,
  };
}
