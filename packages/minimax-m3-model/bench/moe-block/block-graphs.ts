// MoE blocks of a model without a checkpoint, each with an input of its own, eagerly and as graphs.
import type { GraphExec, Runtime, Stream, Tensor, Workspace } from '@altstream/cuda-runtime';
import { MiniMaxM3Model, type ModelTaps } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import type { MoeBlock } from '../../src/layers/moe-block.js';
import type { RandomFill } from '../../src/loader/dummy/random-fill.js';
import { ModelStep } from '../../src/model-step.js';
import type { BlockOptions, BlockShape } from './options.js';

/** Activations behind a norm have deviation one. */
const inputWidth = 2 * Math.sqrt(3);
const memoryShare = 0.6;

/** Layers with experts only; of the rest as little as the config allows. */
export async function loadBlocks(
  runtime: Runtime,
  { hidden, width, experts }: BlockShape,
  { layers: wanted, seed }: BlockOptions,
): Promise<MiniMaxM3Model> {
  const layerBytes = 3 * hidden * width * (experts + 1) * (33 / 32);
  const fitting = Math.floor((memoryShare * runtime.device().freeBytes) / layerBytes);
  const layers = Math.max(1, Math.min(wanted, fitting));
  return MiniMaxM3Model.load({
    runtime,
    directory: 'MiniMax-M3',
    loadFormat: 'dummy',
    seed,
    overlap: 'off',
    overrides: {
      num_hidden_layers: layers,
      moe_layer_freq: Array.from({ length: layers }, () => 1),
      hidden_size: hidden,
      intermediate_size: width,
      shared_intermediate_size: width,
      num_local_experts: experts,
      vocab_size: 1024,
      // A random bias would leave half of the experts without tokens; a trained one spreads them.
      use_routing_bias: false,
    },
  });
}

/** Inputs of one number of tokens, in turns over the layers. */
export interface BlockInputs {
  readonly tokens: number;
  /** [tokens, hidden] bf16 each, and the layer that it goes into. */
  readonly slots: readonly { readonly hidden: Tensor; readonly layer: number }[];
  readonly positions: Tensor;
  /** Of every block. */
  readonly out: Tensor;
  dispose(): void;
}

/** Random activations. */
export async function makeInputs(
  model: MiniMaxM3Model,
  tokens: number,
  inputs: number,
  { stream, random }: Pick<BlockPlace, 'stream' | 'random'>,
): Promise<BlockInputs> {
  const layers = [...model.moeBlocks.keys()];
  const shape = [tokens, model.config.hidden];
  const slots: BlockInputs['slots'][number][] = [];
  for (let slot = 0; slot < inputs; slot++) {
    const hidden = stream.tensor(shape, 'bf16', 'bench.hidden');
    await random.fill(`moe-block.${tokens}.${slot}`, inputWidth, hidden, stream);
    slots.push({ hidden, layer: layers[slot % layers.length] ?? 0 });
  }
  const positions = stream.tensor([tokens], 'i32', 'bench.positions');
  stream.write(
    positions,
    Int32Array.from({ length: tokens }, (_, i) => i),
  );
  const out = stream.tensor(shape, 'bf16', 'bench.out');
  await stream.synchronize();
  const dispose = () => {
    for (const { hidden } of slots) hidden.dispose();
    positions.dispose();
    out.dispose();
  };
  return { tokens, slots, positions, out, dispose };
}

/** Where blocks run. */
export interface BlockPlace {
  readonly stream: Stream;
  readonly workspace: Workspace;
  readonly cache: KvCache;
  /** Makes inputs. */
  readonly random: RandomFill;
}

/** Enqueues the block of one slot, as a layer of the model does. */
export function runBlock(
  model: MiniMaxM3Model,
  inputs: BlockInputs,
  slot: number,
  { stream, workspace, cache }: BlockPlace,
  taps?: ModelTaps,
): void {
  const { positions, slots, out } = inputs;
  const { hidden, layer } = slots[slot % slots.length] ?? {};
  const block: MoeBlock | undefined = model.moeBlocks.get(layer ?? -1);
  if (!hidden || !block) throw new Error(`slot ${slot} has no block`);
  const batch = {
    tokenIds: positions,
    positions,
    sequenceIds: positions,
    slots: positions,
    pageTable: positions,
    rows: positions,
  };
  const pdl = model.launches;
  const context = { stream, workspace, ...(taps && { taps }), ...(pdl && { pdl }) };
  workspace.reset();
  block.forward(hidden, new ModelStep(batch, cache, context), out);
}

/** One graph a slot. */
export async function captureBlocks(
  model: MiniMaxM3Model,
  inputs: BlockInputs,
  place: BlockPlace,
): Promise<GraphExec[]> {
  const { stream } = place;
  const graphs: GraphExec[] = [];
  // The first run loads kernels and takes memory, which a capture should not.
  runBlock(model, inputs, 0, place);
  await stream.synchronize();
  for (const slot of inputs.slots.keys()) {
    const graph = stream.device.capture(() => runBlock(model, inputs, slot, place), { stream });
    graphs.push(await graph.instantiate().finally(() => graph.dispose()));
  }
  return graphs;
}

/** The graphs in turns, a launch each: what a bench takes for one graph. */
export function rotating(graphs: readonly GraphExec[]): Pick<GraphExec, 'launch'> {
  let next = 0;
  return {
    launch: (...args) => {
      const graph = graphs[next++ % graphs.length];
      if (!graph) throw new Error('no graphs to launch');
      return graph.launch(...args);
    },
  };
}
