/**
 * The whole model in float64 and plain loops, one sequence, no cache: what every path must equal.
 * Follows the equations of the model specification, sections 2 and 3, and nothing else.
 */

import type { ModelConfig } from '../../src/config/model-config.js';
import { dot, gemmaNorm, largest, plus, project, type Row, rotate } from './math.js';
import type { ReferenceWeights } from './weights.js';

/** What the reference saw on its way. */
export interface ReferenceRun {
  /** [position][token] */
  readonly logits: Row[];
  /** [layer][position]: experts ascending; empty for dense layers. */
  readonly experts: number[][][];
  /** [layer][position][group]: blocks ascending; empty for full layers. */
  readonly blocks: number[][][][];
  /** [layer][position]: the residual stream after the layer. */
  readonly residual: Row[][];
}

/** Runs the model over a sequence. */
export function referenceModel(
  config: ModelConfig,
  weights: ReferenceWeights,
  tokens: readonly number[],
): ReferenceRun {
  const model = 'language_model.model.';
  const table = weights(`${model}embed_tokens.weight`);
  const width = config.hidden;
  let x: Row[] = tokens.map((token) =>
    Float64Array.from({ length: width }, (_, i) => table.values[token * width + i] as number),
  );
  const run: ReferenceRun = { logits: [], experts: [], blocks: [], residual: [] };
  for (const [layer, kind] of config.layers.entries()) {
    const prefix = `${model}layers.${layer}.`;
    const norm = (name: string) => weights(`${prefix}${name}.weight`);
    const eps = config.rmsNormEps;
    const attended = attention(config, weights, {
      prefix: `${prefix}self_attn.`,
      isSparse: kind.attention === 'sparse',
      inputs: x.map((row) => gemmaNorm(row, norm('input_layernorm'), eps)),
    });
    run.blocks.push(attended.blocks);
    x = x.map((row, p) => plus(row, attended.outputs[p] as Row));
    const inputs = x.map((row) => gemmaNorm(row, norm('post_attention_layernorm'), eps));
    const experts: number[][] = [];
    const outputs = inputs.map((row) => {
      if (kind.mlp === 'dense') return mlp(config, weights, `${prefix}mlp.`, row);
      const moe = moeBlock(config, weights, `${prefix}block_sparse_moe.`, row);
      experts.push(moe.chosen);
      return moe.output;
    });
    run.experts.push(experts);
    x = x.map((row, p) => plus(row, outputs[p] as Row));
    run.residual.push(x);
  }
  const head = weights(
    config.tiedEmbeddings ? `${model}embed_tokens.weight` : 'language_model.lm_head.weight',
  );
  const last = weights(`${model}norm.weight`);
  run.logits.push(...x.map((row) => project(gemmaNorm(row, last, config.rmsNormEps), head)));
  return run;
}

interface AttentionInput {
  readonly prefix: string;
  readonly isSparse: boolean;
  readonly inputs: readonly Row[];
}

function attention(
  config: ModelConfig,
  weights: ReferenceWeights,
  { prefix, isSparse, inputs }: AttentionInput,
): { outputs: Row[]; blocks: number[][][] } {
  const { heads, kvHeads, headDim, rotaryDim, ropeTheta, rmsNormEps, sparse } = config;
  const headsOf = (name: string, normName: string | undefined, dim: number) =>
    inputs.map((row, position) => {
      const all = project(row, weights(`${prefix}${name}.weight`));
      return Array.from({ length: all.length / dim }, (_, h) => {
        const head = all.slice(h * dim, (h + 1) * dim);
        if (!normName) return head;
        const normed = gemmaNorm(head, weights(`${prefix}${normName}.weight`), rmsNormEps);
        return rotate(normed, position, rotaryDim, ropeTheta);
      });
    });
  const q = headsOf('q_proj', 'q_norm', headDim);
  const k = headsOf('k_proj', 'k_norm', headDim);
  const v = headsOf('v_proj', undefined, headDim);
  const indexed = isSparse && sparse ? sparse : undefined;
  const iq = indexed ? headsOf('index_q_proj', 'index_q_norm', indexed.indexDim) : [];
  const ik = indexed ? headsOf('index_k_proj', 'index_k_norm', indexed.indexDim) : [];
  const blocks: number[][][] = [];
  const outputs = inputs.map((_, position) => {
    const chosen = indexed
      ? Array.from({ length: kvHeads }, (_, g) =>
          chooseBlocks(indexed, iq[position]?.[g] as Row, ik, position),
        )
      : [];
    if (indexed) blocks.push(chosen);
    const concatenated = new Float64Array(heads * headDim);
    for (let h = 0; h < heads; h++) {
      const group = Math.floor(h / (heads / kvHeads));
      const keys = visibleKeys(position, indexed && chosen[group], indexed?.blockTokens ?? 1);
      const query = q[position]?.[h] as Row;
      const scores = keys.map((t) => dot(query, k[t]?.[group] as Row) / Math.sqrt(headDim));
      const best = Math.max(...scores);
      const exps = scores.map((s) => Math.exp(s - best));
      const total = exps.reduce((a, b) => a + b, 0);
      for (const [i, t] of keys.entries()) {
        const share = (exps[i] as number) / total;
        const value = v[t]?.[group] as Row;
        for (let d = 0; d < headDim; d++) {
          concatenated[h * headDim + d] =
            (concatenated[h * headDim + d] as number) + share * (value[d] as number);
        }
      }
    }
    return project(concatenated, weights(`${prefix}o_proj.weight`));
  });
  return { outputs, blocks };
}

function chooseBlocks(
  sparse: NonNullable<ModelConfig['sparse']>,
  query: Row,
  indexKeys: readonly Row[][],
  position: number,
): number[] {
  const own = Math.floor(position / sparse.blockTokens);
  const scores = new Array<number>(own + 1).fill(Number.NEGATIVE_INFINITY);
  for (let t = 0; t <= position; t++) {
    const block = Math.floor(t / sparse.blockTokens);
    const score = dot(query, indexKeys[t]?.[0] as Row);
    scores[block] = Math.max(scores[block] as number, score);
  }
  for (let b = 0; b <= own; b++) {
    if (b < sparse.initBlocks || b > own - sparse.localBlocks) scores[b] = Number.MAX_VALUE;
  }
  return largest(scores, sparse.topkBlocks);
}

function visibleKeys(
  position: number,
  blocks: number[] | undefined,
  blockTokens: number,
): number[] {
  const all = Array.from({ length: position + 1 }, (_, t) => t);
  return blocks ? all.filter((t) => blocks.includes(Math.floor(t / blockTokens))) : all;
}

function mlp(config: ModelConfig, weights: ReferenceWeights, prefix: string, x: Row): Row {
  const names = prefix.includes('.experts.')
    ? { gate: 'w1', up: 'w3', down: 'w2' }
    : { gate: 'gate_proj', up: 'up_proj', down: 'down_proj' };
  const gate = project(x, weights(`${prefix}${names.gate}.weight`));
  const up = project(x, weights(`${prefix}${names.up}.weight`));
  const { alpha, beta, limit } = config.swiglu;
  const activated = gate.map((g, i) => {
    const clampedGate = Math.min(g, limit);
    const clampedUp = Math.max(-limit, Math.min(up[i] as number, limit));
    return (clampedGate / (1 + Math.exp(-alpha * clampedGate))) * (clampedUp + beta);
  });
  return project(activated, weights(`${prefix}${names.down}.weight`));
}

function moeBlock(config: ModelConfig, weights: ReferenceWeights, prefix: string, x: Row) {
  const moe = config.moe as NonNullable<ModelConfig['moe']>;
  const scores = project(x, weights(`${prefix}gate.weight`)).map((z) => 1 / (1 + Math.exp(-z)));
  const bias = moe.hasRoutingBias ? weights(`${prefix}e_score_correction_bias`).values : [];
  const chosen = largest(
    scores.map((s, e) => s + (bias[e] ?? 0)),
    moe.expertsPerToken,
  );
  const total = chosen.reduce((sum, e) => sum + (scores[e] as number), 0);
  const shared = `${prefix}shared_experts.`;
  let output: Row = weights.has(`${shared}gate_proj.weight`)
    ? mlp(config, weights, shared, x)
    : new Float64Array(x.length);
  for (const e of chosen) {
    const weight = ((scores[e] as number) / total) * moe.routedScale;
    const expert = mlp(config, weights, `${prefix}experts.${e}.`, x);
    output = plus(
      output,
      expert.map((value) => value * weight),
    );
  }
  return { output, chosen };
}
