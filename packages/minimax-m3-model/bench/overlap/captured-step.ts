// A pass with sampling as one graph, and what of its results must be right.
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
 * Captures forward pass and sampling. With `feeds` the sampled ids are the next replay's tokens, as in
 * the engine's decode graphs.
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
 * What is wrong with logits beside those of the serial order; undefined if nothing. Two streams must
 * give the same bits; a fused sum may round otherwise, and so route a few tokens otherwise.
 */
export function faultOf(
  values: Float32Array,
  serial: Float32Array,
  mustBeEqual: boolean,
): string | undefined {
  let [dot, own, other] = [0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const [a = Number.NaN, b = Number.NaN] = [values[i], serial[i]];
    if (!Number.isFinite(a)) return `logit ${i} is ${a}`;
    if (mustBeEqual && a !== b) return `logit ${i} is ${a}, in serial order ${b}`;
    dot += a * b;
    own += a * a;
    other += b * b;
  }
  const cosine = dot / Math.sqrt(own * other);
  return cosine > 0.9 ? undefined : `the cosine to the logits in serial order is ${cosine}`;
}
