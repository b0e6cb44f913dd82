/**
 * Every name under which a weight may lie in a checkpoint: the release's, the same without
 * `language_model.`, and transformers 5's, where gate and up rows and all experts may be one
 * tensor.
 */

import { CheckpointError } from '../errors/index.js';
import type { TensorSource } from './tensor-source.js';

/** One place where a weight may lie. */
export interface Spelling {
  readonly name: string;
  /** Row of the stored tensor, flattened to rows, where the weight begins. */
  readonly firstRow: number;
  /** Rows of the stored tensor in all; undefined when the weight is the whole tensor. */
  readonly storedRows?: number;
}

/** The spellings of one weight, the release's first. */
export type Spellings = readonly [Spelling, ...Spelling[]];

/** Where the three matrices of an MLP may lie. */
export interface MlpNames {
  readonly gate: Spellings;
  readonly up: Spellings;
  readonly down: Spellings;
}

const modelPrefixes = ['language_model.model.', 'model.language_model.', 'model.'] as const;

/** Names of all weights of one checkpoint. */
export class WeightNames {
  readonly #prefix: string;

  /** @throws CheckpointError when no known prefix has an embedding */
  constructor(source: TensorSource) {
    const prefix = modelPrefixes.find((p) => source.tensors.has(`${p}embed_tokens.weight`));
    if (prefix === undefined) {
      const names = modelPrefixes.map((p) => `\`${p}embed_tokens.weight\``);
      throw new CheckpointError(
        'MODEL_CHECKPOINT_TENSOR_MISSING',
        `the embedding is missing: no tensor is named ${names.join(', ')}; ` +
          'is this the folder of a MiniMax-M3?',
        { facts: { tensors: source.tensors.size } },
      );
    }
    this.#prefix = prefix;
  }

  /** The embedding table. */
  get embedding(): Spellings {
    return named(`${this.#prefix}embed_tokens.weight`);
  }

  /** The last norm. */
  get finalNorm(): Spellings {
    return named(`${this.#prefix}norm.weight`);
  }

  /** The head; absent when embeddings are tied. */
  get lmHead(): Spellings {
    return named('language_model.lm_head.weight', 'lm_head.weight');
  }

  /** A weight of a layer that has one name in every spelling, e.g. `self_attn.q_proj.weight`. */
  inLayer(layer: number, ...names: [string, ...string[]]): Spellings {
    const prefix = this.#layer(layer);
    const [first, ...others] = names;
    return named(prefix + first, ...others.map((name) => prefix + name));
  }

  /** A projection or norm of the indexer: `q_proj`, `k_proj`, `q_norm` or `k_norm`. */
  indexer(layer: number, part: string): Spellings {
    return this.inLayer(
      layer,
      `self_attn.index_${part}.weight`,
      `self_attn.indexer.${part}.weight`,
    );
  }

  /** The MLP of a dense layer. */
  denseMlp(layer: number, intermediate: number): MlpNames {
    return mlpNames([`${this.#layer(layer)}mlp.`], intermediate);
  }

  /** The shared expert of a MoE layer. */
  sharedExpert(layer: number, intermediate: number): MlpNames {
    const prefixes = this.#moe(layer).map((moe) => `${moe}shared_experts.` as const);
    return mlpNames(prefixes as [string, ...string[]], intermediate);
  }

  /** The router's weight. */
  router(layer: number): Spellings {
    return this.inLayer(layer, 'block_sparse_moe.gate.weight', 'mlp.gate.weight');
  }

  /** The bias that takes part in the choice of experts. */
  routerBias(layer: number): Spellings {
    return this.inLayer(
      layer,
      'block_sparse_moe.e_score_correction_bias',
      'block_sparse_moe.gate.e_score_correction_bias',
      'mlp.gate.e_score_correction_bias',
      'mlp.e_score_correction_bias',
    );
  }

  /** One routed expert, alone or as a part of tensors that hold all experts. */
  expert(
    layer: number,
    expert: number,
    size: { readonly experts: number; readonly intermediate: number; readonly hidden: number },
  ): MlpNames {
    const { experts, intermediate, hidden } = size;
    const alone = (...names: string[]) =>
      this.#moe(layer).flatMap((moe) =>
        names.map((name) => whole(`${moe}experts.${expert}.${name}`)),
      );
    const packed = (name: string, rows: number, firstRow: number) =>
      this.#moe(layer).flatMap((moe) =>
        [`${moe}experts.${name}`, `${moe}experts.${name}.weight`].map((full) => ({
          name: full,
          firstRow: expert * rows + firstRow,
          storedRows: experts * rows,
        })),
      );
    const both = 2 * intermediate;
    return {
      gate: join(alone('w1.weight', 'gate_proj.weight'), packed('gate_up_proj', both, 0)),
      up: join(alone('w3.weight', 'up_proj.weight'), packed('gate_up_proj', both, intermediate)),
      down: join(alone('w2.weight', 'down_proj.weight'), packed('down_proj', hidden, 0)),
    };
  }

  #layer(layer: number): string {
    return `${this.#prefix}layers.${layer}.`;
  }

  #moe(layer: number): [string, string] {
    return [`${this.#layer(layer)}block_sparse_moe.`, `${this.#layer(layer)}mlp.`];
  }
}

/**
 * Names of the scales that may lie beside a quantised weight. They multiply, whatever the name
 * says.
 */
export function scaleNames(weight: string): string[] {
  return [`${weight}_scale_inv`, `${weight}_scale`];
}

/** Parts of a checkpoint that the text model does not use, by the reason why. */
export function unusedPart(name: string): 'vision' | 'mtp' | undefined {
  const path = name.replace(/^(language_model\.)?(model\.)?/, '');
  if (/^(vision_tower|multi_modal_projector|patch_merge_mlp|visual)\./.test(path)) return 'vision';
  if (/(^|\.)(mtp|mtp_layers|nextn)(\.|$)/.test(name)) return 'mtp';
  return undefined;
}

function mlpNames(prefixes: readonly [string, ...string[]], intermediate: number): MlpNames {
  const spell = (name: string) => prefixes.map((prefix) => whole(`${prefix}${name}.weight`));
  const packed = (firstRow: number) =>
    prefixes.map((prefix) => ({
      name: `${prefix}gate_up_proj.weight`,
      firstRow,
      storedRows: 2 * intermediate,
    }));
  return {
    gate: join(spell('gate_proj'), packed(0)),
    up: join(spell('up_proj'), packed(intermediate)),
    down: join(spell('down_proj'), []),
  };
}

function named(first: string, ...others: string[]): Spellings {
  return [whole(first), ...others.map(whole)];
}

function whole(name: string): Spelling {
  return { name, firstRow: 0 };
}

function join(alone: readonly Spelling[], packed: readonly Spelling[]): Spellings {
  return [...alone, ...packed] as unknown as Spellings;
}
