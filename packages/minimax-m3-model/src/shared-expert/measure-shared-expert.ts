/** Times every way to run the shared expert, each as a replayed graph of whole decoder layers. */

import {
  type Device,
  type GraphExec,
  type Stream,
  type Tensor,
  Workspace,
} from '@altstream/cuda-runtime';
import type { PdlChooser } from '@altstream/moe-kernels';
import type { DecoderLayer } from '../decoder-layer.js';
import type { KvCache } from '../kv-cache.js';
import { type ModelBatch, ModelStep } from '../model-step.js';
import { replayTimes } from './replay-times.js';
import {
  chooseWay,
  type SharedExpertMeasurement,
  type SharedExpertWay,
} from './shared-expert-choice.js';

/** Pages of the cache to measure with: sequences share them, since their contents do not matter. */
export const measuredPages = 4;
/** Blocks of a sequence that has full attention only. */
export const mostMeasuredBlocks = 16;
/**
 * Layers of a graph: all of MiniMax-M3. Of 16 layers eight tokens took 5.5 % less on two streams
 * than on one, of 57 only 3.6 %: the fewer weights a replay reads, the less they cost.
 */
export const mostMeasuredLayers = 64;

/** Decoder layers that run their shared expert in one way. */
export interface WayLayers {
  readonly way: SharedExpertWay;
  readonly layers: readonly DecoderLayer[];
}

/** What to measure. */
export interface MeasureOptions {
  readonly device: Device;
  /**
   * The same layers in each of the ways: several that follow each other, so that weights come from
   * memory and every kernel has the neighbours of a real step.
   */
  readonly ways: readonly WayLayers[];
  readonly hidden: number;
  readonly dtype: 'f32' | 'bf16';
  /** Of `measuredPages` pages; its contents are lost. */
  readonly cache: KvCache;
  readonly pageTokens: number;
  /** Tokens of each sequence. */
  readonly context: number;
  readonly tokens: number;
  /** As in a pass. */
  readonly pdl: PdlChooser | undefined;
}

/** Makes a tensor that the measurement frees. */
type MakeTensor = Stream['tensor'];

/**
 * Measures one batch size. A MoE block by itself predicts a step badly: the ways differ in what the
 * kernels before and after it can overlap with.
 */
export async function measureSharedExpert(
  options: MeasureOptions,
): Promise<SharedExpertMeasurement> {
  const { device, tokens, ways, cache } = options;
  const started = performance.now();
  const stream = device.createStream({ name: 'measure' });
  const workspace = new Workspace(device, { label: 'measure' });
  const owned: Tensor[] = [];
  const graphs: GraphExec[] = [];
  const make: MakeTensor = (shape, dtype, label) => {
    const tensor = stream.tensor(shape, dtype, label);
    owned.push(tensor);
    return tensor;
  };
  try {
    const run = passOf(options, workspace, stream, make);
    clear(cache, stream);
    for (const { layers } of ways) {
      // The first run loads kernels and takes memory, which a capture should not.
      run(stream, layers.slice(0, 1));
      await stream.synchronize();
      const graph = device.capture((capturing) => run(capturing, layers), { stream });
      graphs.push(await graph.instantiate().finally(() => graph.dispose()));
    }
    const layers = ways[0]?.layers.length ?? 1;
    const { medians, replays } = await replayTimes(graphs, stream);
    const us = medians.map((median) => median / layers);
    const names = ways.map(({ way }) => way);
    const times = Object.fromEntries(names.map((way, i) => [`${way}Us`, us[i] ?? 0]));
    const seconds = (performance.now() - started) / 1000;
    return { tokens, ...times, ...chooseWay(names, us), layers, replays, seconds };
  } finally {
    await stream.synchronize();
    for (const graph of graphs) graph.dispose();
    for (const tensor of owned) tensor.dispose();
    workspace.dispose();
    stream.dispose();
  }
}

/** Zeros: what memory held before might be NaN, of which no expert can be chosen. */
function clear({ layers }: KvCache, stream: Stream): void {
  for (const { k, v, indexKeys } of layers) {
    for (const tensor of [k, v, indexKeys]) {
      if (tensor && tensor.elements > 0) stream.fill(tensor, 0);
    }
  }
}

/** A decode pass through some layers, the same tokens each time. */
function passOf(
  options: MeasureOptions,
  workspace: Workspace,
  stream: Stream,
  make: MakeTensor,
): (on: Stream, layers: readonly DecoderLayer[]) => void {
  const { cache, pdl } = options;
  const embedded = pseudoActivations(options, stream, make);
  const batch = decodeBatch(options, stream, make);
  const hidden = make(embedded.shape, embedded.dtype, 'measured hidden');
  const residual = make(embedded.shape, embedded.dtype, 'measured residual');
  return (on, layers) => {
    workspace.reset();
    on.copy(residual, embedded);
    const step = new ModelStep(batch, cache, { stream: on, workspace, ...(pdl && { pdl }) });
    for (const [at, layer] of layers.entries()) layer.forward(hidden, residual, step, at === 0);
  };
}

/** Values in [-1, 1) that differ from token to token, so that tokens choose different experts. */
function pseudoActivations(
  { hidden, tokens, dtype }: MeasureOptions,
  stream: Stream,
  make: MakeTensor,
): Tensor {
  const tensor = make([tokens, hidden], dtype, 'measured input');
  const values = Float32Array.from({ length: tokens * hidden }, (_, i) => {
    const hash = Math.imul(i + 1, 0x9e3779b9) ^ (Math.imul(i + 1, 0x85ebca6b) >>> 15);
    return (hash >>> 8) / 2 ** 23 - 1;
  });
  const bits = new Uint32Array(values.buffer);
  stream.write(tensor, dtype === 'f32' ? values : Uint16Array.from(bits, (b) => b >>> 16));
  return tensor;
}

/** The last token of each of `tokens` sequences. */
function decodeBatch(
  { tokens, pageTokens, context, cache }: MeasureOptions,
  stream: Stream,
  make: MakeTensor,
): ModelBatch {
  const write = (label: string, shape: readonly number[], at: (index: number) => number) => {
    const tensor = make(shape, 'i32', `measured ${label}`);
    const { elements: length } = tensor;
    stream.write(
      tensor,
      Int32Array.from({ length }, (_, index) => at(index)),
    );
    return tensor;
  };
  const slots = cache.pages * pageTokens;
  const blocks = Math.ceil(context / pageTokens);
  const sequenceIds = write('sequenceIds', [tokens], (token) => token);
  return {
    // Neither is read between the embedding and the head.
    tokenIds: sequenceIds,
    rows: sequenceIds,
    sequenceIds,
    positions: write('positions', [tokens], () => context - 1),
    // Two tokens never write the same slot.
    slots: write('slots', [tokens], (token) => (token < slots ? token : -1)),
    pageTable: write('pageTable', [tokens, blocks], (index) => index % cache.pages),
  };
}
