/** Loads all weights of one rank and reports what was found. */

import { OutOfMemoryError, type Stream } from '@altstream/cuda-runtime';
import type { ModelConfig } from '../config/model-config.js';
import { DummySource } from './dummy/dummy-source.js';
import { planLayer } from './layer-weights.js';
import type { LoadProgress, LoadReport, TensorCount } from './load-report.js';
import type { MatrixPart } from './matrix-part.js';
import type { LayerWeights, Matrix, MlpWeights, ModelWeights } from './model-weights.js';
import {
  checkTensorParallel,
  type Range,
  type RankPart,
  splitHeads,
  splitUnits,
  type TensorParallel,
} from './shard.js';
import type { TensorSource } from './tensor-source.js';
import { WeightLoader } from './weight-loader.js';
import { weightsDoNotFit } from './weight-memory.js';
import { unusedPart, WeightNames } from './weight-names.js';

/** What to load, and where to. */
export interface LoadOptions {
  readonly config: ModelConfig;
  /** Copies run in order on this stream; its device gets the weights. */
  readonly stream: Stream;
  /** Default: the whole model. */
  readonly tensorParallel?: TensorParallel;
  /**
   * False: nobody sums the parts of several ranks. Then the embedding is whole, since a rank that
   * saw zeros for most tokens would route and measure nothing real. Default true.
   */
  readonly isSummed?: boolean;
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
 * Loads the weights of a rank: heads, hidden units of MLPs and the vocabulary of embedding and head
 * are split, norms and routers are whole.
 *
 * @throws CheckpointError when a tensor is missing or differs from the config; nothing stays
 * allocated
 */
export async function loadWeights(
  source: TensorSource,
  options: LoadOptions,
): Promise<LoadedWeights> {
  const started = performance.now();
  const tensorParallel = checkTensorParallel(options.tensorParallel ?? { rank: 0, size: 1 });
  const loader = new WeightLoader(source, options.stream);
  const { freeBytes } = options.stream.device;
  try {
    const weights = planModel(source, loader, { ...options, tensorParallel });
    await loader.run(options.onProgress, options.signal);
    const seconds = (performance.now() - started) / 1000;
    return { weights, report: report(source, loader, weights, seconds) };
  } catch (error) {
    loader.dispose();
    if (!OutOfMemoryError.isInstance(error)) throw error;
    const { config, isSummed = true } = options;
    throw weightsDoNotFit(error, config, { freeBytes, tensorParallel, isSummed });
  }
}

function planModel(
  source: TensorSource,
  loader: WeightLoader,
  options: Pick<LoadOptions, 'config' | 'isSummed'> & { readonly tensorParallel: TensorParallel },
): ModelWeights {
  const { config, tensorParallel, isSummed = true } = options;
  const names = new WeightNames(source);
  const { vocabSize, hidden, tiedEmbeddings } = config;
  const vocab = splitUnits(vocabSize, tensorParallel);
  const table = { rows: vocabSize, columns: hidden };
  const embeddingRows = isSummed ? vocab : { start: 0, count: vocabSize };
  const embeddingPart = { spellings: names.embedding, ...table, rowRange: embeddingRows };
  const embedding = planEmbedding(loader, embeddingPart);
  const tiedStart = vocab.start - embeddingRows.start;
  return {
    tensorParallel,
    heads: splitHeads(config, tensorParallel),
    embedding: embedding.data,
    embeddingRows,
    layers: config.layers.map((_, layer) =>
      planLayer({ source, loader, names, config, tensorParallel, layer }),
    ),
    finalNorm: loader.vector(names.finalNorm, hidden),
    lmHead: tiedEmbeddings
      ? { data: embedding.data.slice(0, tiedStart, tiedStart + vocab.count), scales: undefined }
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
    files: source.fill ? 0 : new Set([...source.tensors.values()].map(({ file }) => file)).size,
    access: source.access?.(),
    dummy: source instanceof DummySource ? source.report : undefined,
    used: loader.used,
    deviceBytes: loader.deviceBytes,
    vision,
    mtp,
    unused,
    storage: loader.storage,
    conversions: loader.conversions,
    sharedExpertLayers: weights.layers.filter(({ moe }) => moe?.shared).length,
    tensorParallel: weights.tensorParallel,
    part: partOf(weights),
    seconds,
  };
}

function partOf({ heads, vocab, embeddingRows, layers }: ModelWeights): RankPart {
  const columns = (mlpOf: (layer: LayerWeights) => MlpWeights | undefined): Range[] => {
    const all = layers.flatMap((layer) => mlpOf(layer)?.columns ?? []);
    return [...new Map(all.map((range) => [`${range.start} ${range.count}`, range])).values()];
  };
  return {
    ...heads,
    vocab,
    embedding: embeddingRows,
    denseColumns: columns(({ mlp }) => mlp),
    expertColumns: columns(({ moe }) => moe?.experts),
    sharedColumns: columns(({ moe }) => moe?.shared),
  };
}
