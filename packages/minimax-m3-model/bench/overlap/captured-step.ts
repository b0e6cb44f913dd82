// A pass with sampling as one graph, and what its results are.
import type { GraphExec, Stream, Tensor, Workspace } from '@altstream/cuda-runtime';
import { sample } from '@altstream/dense-kernels';
import type { MiniMaxM3Model } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import type { StepInputs } from './step-inputs.js';

/** A captured pass. */
export interface CapturedStep {
  readonly graph: GraphExec;
  /** f32 [rows, vocab], as the last replay left them. */
  readonly logits: Tensor;
}

/**
 * Captures forward pass and sampling. With `feeds` the sampled ids are the next replay's tokens, as
 * in the engine's decode graphs.
 */
export async function captureStep(
  model: MiniMaxM3Model,
  inputs: StepInputs,
  where: {
    readonly cache: KvCache;
    readonly stream: Stream;
    readonly workspace: Workspace;
    readonly feeds: boolean;
  },
): Promise<CapturedStep> {
  const { cache, stream, workspace, feeds } = where;
  const logprobs = stream.tensor(inputs.batch.rows.shape, 'f32', 'bench.logprobs');
  const ids = feeds ? inputs.batch.tokenIds : stream.tensor(logprobs.shape, 'i32', 'bench.ids');
  let logits: Tensor | undefined;
  const record = () => {
    workspace.reset();
    logits = model.forward(inputs.batch, cache, { stream, workspace });
    sample(
      { logits, ...inputs.sampling },
      { stream, allocator: workspace, out: { ids, logprobs } },
    );
  };
  // The first run loads kernels and takes memory, which a capture should not.
  record();
  await stream.synchronize();
  const graph = model.device.capture(record, { stream });
  const exec = await graph.instantiate().finally(() => graph.dispose());
  logprobs.dispose();
  if (!feeds) ids.dispose();
  if (!logits) throw new Error('the capture recorded nothing');
  return { graph: exec, logits };
}

/** One replay on the inputs of turn 0; its logits. */
export async function logitsOf(
  { graph, logits }: CapturedStep,
  inputs: StepInputs,
  stream: Stream,
): Promise<Float32Array> {
  const values = new Float32Array(logits.elements);
  inputs.begin(0);
  graph.launch(stream);
  await stream.read(logits, values);
  return values;
}

/**
 * What the first layer with experts makes of the inputs of turn 0, an eager pass: its residual
 * stream [tokens, hidden], then what its experts add to it.
 */
export async function firstExpertsOf(
  model: MiniMaxM3Model,
  inputs: StepInputs,
  where: { readonly cache: KvCache; readonly stream: Stream; readonly workspace: Workspace },
): Promise<Float32Array> {
  const { cache, stream, workspace } = where;
  const [first] = model.moeBlocks.keys();
  const kept: Tensor[] = [];
  const keep = (tensor: Tensor) => {
    const copy = stream.tensor(tensor.shape, tensor.dtype, 'bench.kept');
    stream.copy(copy, tensor);
    kept.push(copy);
  };
  const taps = {
    residual: (layer: number, before: string, residual: Tensor) => {
      if (layer === first && before === 'mlp') keep(residual);
    },
    output: (layer: number, output: Tensor) => {
      if (layer === first) keep(output);
    },
  };
  inputs.begin(0);
  workspace.reset();
  model.forward(inputs.batch, cache, { stream, workspace, taps });
  const parts: Float32Array[] = [];
  // One after the other: those of a long prompt would not fit in staging memory together.
  for (const tensor of kept) parts.push(await valuesOf(tensor, stream));
  for (const tensor of kept) tensor.dispose();
  const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

async function valuesOf(tensor: Tensor, stream: Stream): Promise<Float32Array> {
  const values = new Float32Array(tensor.elements);
  if (tensor.dtype === 'f32') {
    await stream.read(tensor, values);
    return values;
  }
  const halves = new Uint16Array(tensor.elements);
  await stream.read(tensor, halves);
  const bits = new Uint32Array(values.buffer);
  for (const [i, half] of halves.entries()) bits[i] = half << 16;
  return values;
}
