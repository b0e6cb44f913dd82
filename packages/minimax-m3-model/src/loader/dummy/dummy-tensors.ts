/** The tensors that a checkpoint of a config would have, under the names of the release. */

import type { ModelConfig, MoeConfig } from '../../config/model-config.js';
import { CheckpointError } from '../../errors/index.js';
import { mxBlock } from '../matrix-part.js';
import { type StoredDType, type StoredTensor, storedDTypeBytes } from '../tensor-source.js';

/** A tensor and the interval of its values: [-width / 2, width / 2). */
export interface DummyTensor extends StoredTensor {
  readonly width: number;
}

/** Gain of gate and up over a matrix that keeps activations of order one. */
const gateUpGain = 4;

/**
 * Every text tensor of a config; matrices that the release quantises are MXFP8 if the config says
 * so.
 */
export function listDummyTensors(config: ModelConfig): DummyTensor[] {
  const list = new TensorList(config.quantization === 'mxfp8');
  const { hidden, vocabSize, tiedEmbeddings } = config;
  const root = 'language_model.';
  list.plain(`${root}model.embed_tokens.weight`, [vocabSize, hidden], 4);
  list.vector(`${root}model.norm.weight`, hidden);
  if (!tiedEmbeddings) list.plain(`${root}lm_head.weight`, [vocabSize, hidden], scale(hidden));
  for (const [layer, { attention, mlp }] of config.layers.entries()) {
    const prefix = `${root}model.layers.${layer}.`;
    list.vector(`${prefix}input_layernorm.weight`, hidden);
    list.vector(`${prefix}post_attention_layernorm.weight`, hidden);
    addAttention(list, `${prefix}self_attn.`, config, attention === 'sparse');
    if (mlp === 'dense') list.mlp(`${prefix}mlp.`, hidden, config.denseIntermediate);
    else if (config.moe) addMoe(list, `${prefix}block_sparse_moe.`, hidden, config.moe);
  }
  return list.tensors;
}

function addAttention(list: TensorList, prefix: string, config: ModelConfig, isSparse: boolean) {
  const { hidden, heads, kvHeads, headDim, sparse } = config;
  list.matrix(`${prefix}q_proj.weight`, heads * headDim, hidden);
  list.matrix(`${prefix}k_proj.weight`, kvHeads * headDim, hidden);
  list.matrix(`${prefix}v_proj.weight`, kvHeads * headDim, hidden);
  list.matrix(`${prefix}o_proj.weight`, hidden, heads * headDim);
  list.vector(`${prefix}q_norm.weight`, headDim);
  list.vector(`${prefix}k_norm.weight`, headDim);
  if (!isSparse || !sparse) return;
  list.matrix(`${prefix}index_q_proj.weight`, sparse.indexHeads * sparse.indexDim, hidden);
  list.matrix(`${prefix}index_k_proj.weight`, sparse.indexDim, hidden);
  list.vector(`${prefix}index_q_norm.weight`, sparse.indexDim);
  list.vector(`${prefix}index_k_norm.weight`, sparse.indexDim);
}

function addMoe(list: TensorList, prefix: string, hidden: number, moe: MoeConfig): void {
  // Always f32, as released.
  list.add(`${prefix}gate.weight`, [moe.experts, hidden], 'F32', 2 * scale(hidden));
  if (moe.hasRoutingBias) list.add(`${prefix}e_score_correction_bias`, [moe.experts], 'F32', 0.5);
  for (let expert = 0; expert < moe.experts; expert++) {
    const name = `${prefix}experts.${expert}.`;
    list.matrix(`${name}w1.weight`, moe.intermediate, hidden, gateUpGain);
    list.matrix(`${name}w2.weight`, hidden, moe.intermediate);
    list.matrix(`${name}w3.weight`, moe.intermediate, hidden, gateUpGain);
  }
  if (moe.sharedExpert !== 'absent') {
    list.mlp(`${prefix}shared_experts.`, hidden, moe.sharedIntermediate);
  }
}

class TensorList {
  readonly tensors: DummyTensor[] = [];
  readonly #isQuantized: boolean;

  constructor(isQuantized: boolean) {
    this.#isQuantized = isQuantized;
  }

  add(name: string, shape: readonly number[], dtype: StoredDType, width: number): void {
    const elements = shape.reduce((product, size) => product * size, 1);
    const bytes = elements * storedDTypeBytes[dtype];
    this.tensors.push({ name, shape, dtype, width, bytes, file: 'dummy weights', offset: 0 });
  }

  vector(name: string, length: number): void {
    this.add(name, [length], 'BF16', 0.5);
  }

  plain(name: string, shape: readonly number[], width: number): void {
    this.add(name, shape, 'BF16', width);
  }

  /** One of the matrices that the MXFP8 release quantises. */
  matrix(name: string, rows: number, columns: number, gain = 1): void {
    const width = scale(columns) * gain;
    if (!this.#isQuantized) {
      this.plain(name, [rows, columns], width);
      return;
    }
    if (columns % mxBlock !== 0) {
      throw new CheckpointError(
        'MODEL_CHECKPOINT_SHAPE',
        `dummy weights: \`${name}\` has ${columns} columns, which MXFP8 cannot store; ` +
          `expected a multiple of ${mxBlock}, or a config without \`quantization_config\``,
        { facts: { tensor: name, expected: mxBlock, received: columns } },
      );
    }
    this.add(name, [rows, columns], 'F8_E4M3', width);
    this.add(`${name}_scale_inv`, [rows, columns / mxBlock], 'U8', width);
  }

  mlp(prefix: string, hidden: number, intermediate: number): void {
    this.matrix(`${prefix}gate_proj.weight`, intermediate, hidden, gateUpGain);
    this.matrix(`${prefix}up_proj.weight`, intermediate, hidden, gateUpGain);
    this.matrix(`${prefix}down_proj.weight`, hidden, intermediate);
  }
}

/** A power of two near 4 / sqrt(columns): a sum over the columns is of order one, at any depth. */
function scale(columns: number): number {
  return 2 ** (2 - Math.ceil(Math.log2(columns) / 2));
}
