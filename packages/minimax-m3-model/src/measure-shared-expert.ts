/** Times every way to run the shared expert, each as a replayed graph of MoE layers. */

import {
  type Device,
  Event,
  type GraphExec,
  type Stream,
  type Tensor,
  Workspace,
} from '@altstream/cuda-runtime';
import type { PdlChooser } from '@altstream/moe-kernels';
import type { KvCache } from './kv-cache.js';
import type { MoeBlock } from './layers/moe-block.js';
import { ModelStep } from './model-step.js';
import type { SharedExpertMeasurement, SharedExpertWay } from './shared-expert-choice.js';

const replays = 10;
const rounds = 5;
/** How much faster than the serial order another way must be: a layer alone flatters it a little. */
const margin = 0.03;
/** Layers of a graph: together their weights are more than a cache holds, as in a real step. */
const mostBlocks = 8;

/** What to measure. */
export interface MeasureOptions {
  readonly device: Device;
  /** MoE blocks that can run in all of the ways. */
  readonly blocks: readonly MoeBlock[];
  /** At least one. */
  readonly ways: readonly SharedExpertWay[];
  readonly hidden: number;
  readonly dtype: 'f32' | 'bf16';
  readonly cache: KvCache;
  readonly tokens: number;
  /** As in a pass. */
  readonly pdl: PdlChooser | undefined;
}

/** Makes a tensor that the measurement frees. */
type MakeTensor = Stream['tensor'];

/**
 * Measures one batch size. The ways take turns, so that a change of clocks meets all of them; the best
 * round of each counts, since the others waited for somebody else.
 */
export async function measureSharedExpert(
  options: MeasureOptions,
): Promise<SharedExpertMeasurement> {
  const { device, tokens, ways, cache, pdl } = options;
  const blocks = spread(options.blocks, mostBlocks);
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
    const hidden = pseudoActivations(options, stream, make);
    const batch = emptyBatch(tokens, stream, make);
    const out = make(hidden.shape, hidden.dtype, 'measured');
    const run = (way: SharedExpertWay, on: Stream, some: readonly MoeBlock[]) => {
      for (const block of some) {
        workspace.reset();
        block.forwardBy(
          way,
          hidden,
          new ModelStep(batch, cache, { stream: on, workspace, ...(pdl && { pdl }) }),
          out,
        );
      }
    };
    for (const way of ways) {
      // The first run loads kernels and takes memory, which a capture should not.
      run(way, stream, blocks.slice(0, 1));
      await stream.synchronize();
      const graph = device.capture((capturing) => run(way, capturing, blocks), { stream });
      graphs.push(await graph.instantiate().finally(() => graph.dispose()));
    }
    const best = await timeInTurns(graphs, stream);
    const us = best.map((time) => time / blocks.length);
    const times = Object.fromEntries(ways.map((way, i) => [`${way}Us`, us[i] ?? 0]));
    const chosen = chooseWay(ways, us);
    return { tokens, ...times, chosen, layers: blocks.length };
  } finally {
    await stream.synchronize();
    for (const graph of graphs) graph.dispose();
    for (const tensor of owned) tensor.dispose();
    workspace.dispose();
    stream.dispose();
  }
}

/**
 * The fastest way, unless it wins less than the margin over the serial order. Without one (no overlap)
 * `separate` is the serial order.
 */
export function chooseWay(
  ways: readonly SharedExpertWay[],
  us: readonly number[],
): SharedExpertWay {
  const plain = ways.includes('serial') ? 'serial' : 'separate';
  const plainUs = us[ways.indexOf(plain)] ?? Number.POSITIVE_INFINITY;
  const best = Math.min(...us);
  return best < plainUs * (1 - margin) ? (ways[us.indexOf(best)] ?? plain) : plain;
}

/** Microseconds of one replay of each graph, by the device's own clock where it has one. */
async function timeInTurns(graphs: readonly GraphExec[], stream: Stream): Promise<number[]> {
  const best = graphs.map(() => Number.POSITIVE_INFINITY);
  const [from, to] = [1, 2].map(() => stream.device.createEvent({ timing: true }));
  if (!from || !to) return best;
  for (let round = 0; round <= rounds; round++) {
    for (const [i, graph] of graphs.entries()) {
      // The launch before the first event hides the host's part of the ones behind it.
      graph.launch(stream);
      stream.record(from);
      for (let n = 0; n < replays; n++) graph.launch(stream);
      stream.record(to);
      await stream.synchronize();
      const us = (Event.elapsedMs(from, to) * 1000) / replays;
      // The first round warms caches up.
      if (round > 0) best[i] = Math.min(best[i] ?? us, us);
    }
  }
  from.dispose();
  to.dispose();
  return best;
}

/** At most so many of the blocks, evenly from all depths. */
function spread(blocks: readonly MoeBlock[], most: number): MoeBlock[] {
  const count = Math.min(most, blocks.length);
  const wanted = Array.from({ length: count }, (_, i) => Math.floor((i * blocks.length) / count));
  return wanted.flatMap((index) => blocks[index] ?? []);
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

/** Real tokens as far as the router looks. */
function emptyBatch(tokens: number, stream: Stream, make: MakeTensor) {
  const positions = make([tokens], 'i32', 'positions');
  stream.write(
    positions,
    Int32Array.from({ length: tokens }, (_, i) => i),
  );
  const same = { tokenIds: positions, sequenceIds: positions, slots: positions, rows: positions };
  return { ...same, positions, pageTable: positions };
}
