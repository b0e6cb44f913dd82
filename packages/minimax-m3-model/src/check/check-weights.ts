/**
 * Looks for every weight of a config in a checkpoint's headers, without reading or allocating
 * anything.
 */

import type { ModelConfig, MoeConfig } from '../config/model-config.js';
import { CheckpointError } from '../errors/index.js';
import type { TensorCount } from '../loader/load-report.js';
import { findPart, findVector, hasWeight } from '../loader/matrix-part.js';
import type { StoredTensor, TensorSource } from '../loader/tensor-source.js';
import { type MlpNames, type Spellings, unusedPart, WeightNames } from '../loader/weight-names.js';

/** What a checkpoint has of a config. */
export interface WeightCheck {
  /** One sentence for each weight that is missing, or has another type or shape than it should. */
  readonly problems: readonly string[];
  /** Weights that were looked for. */
  readonly wanted: number;
  /** Tensors of the text model, scales included. */
  readonly used: TensorCount;
  /** Bytes of `used` in each layer. */
  readonly layerBytes: readonly number[];
  /** Vision tensors and those of multi-token prediction, which are left out. */
  readonly leftOut: TensorCount;
  /** Names of tensors that nothing uses. */
  readonly unused: readonly string[];
}

/** Finds all that is wrong, not only the first as a load does; the rules are those of a load. */
export function checkWeights(source: TensorSource, config: ModelConfig): WeightCheck {
  const search = new WeightSearch(source);
  try {
    const names = new WeightNames(source);
    searchEnds(search, names, config);
    for (const layer of config.layers.keys()) searchLayer(search, names, config, layer);
  } catch (error) {
    // Without an embedding nothing says under which prefix the others would lie.
    search.note(error);
  }
  const leftOut = { tensors: 0, bytes: 0 };
  const unused: string[] = [];
  for (const { name, bytes } of source.tensors.values()) {
    if (search.found.has(name)) continue;
    if (unusedPart(name) === undefined) unused.push(name);
    else {
      leftOut.tensors++;
      leftOut.bytes += bytes;
    }
  }
  return { ...search.result(config.layers.length), leftOut, unused };
}

function searchEnds(search: WeightSearch, names: WeightNames, config: ModelConfig): void {
  const { vocabSize, hidden, tiedEmbeddings } = config;
  search.matrix(names.embedding, vocabSize, hidden);
  search.vector(names.finalNorm, hidden);
  if (!tiedEmbeddings) search.matrix(names.lmHead, vocabSize, hidden);
}

function searchLayer(
  search: WeightSearch,
  names: WeightNames,
  config: ModelConfig,
  layer: number,
): void {
  const { hidden, heads, kvHeads, headDim, moe } = config;
  const kind = config.layers[layer];
  search.layer = layer;
  const inLayer = (name: string): Spellings => names.inLayer(layer, name);
  search.vector(inLayer('input_layernorm.weight'), hidden);
  search.vector(inLayer('post_attention_layernorm.weight'), hidden);
  search.matrix(inLayer('self_attn.q_proj.weight'), heads * headDim, hidden);
  search.matrix(inLayer('self_attn.k_proj.weight'), kvHeads * headDim, hidden);
  search.matrix(inLayer('self_attn.v_proj.weight'), kvHeads * headDim, hidden);
  search.matrix(inLayer('self_attn.o_proj.weight'), hidden, heads * headDim);
  search.vector(inLayer('self_attn.q_norm.weight'), headDim);
  search.vector(inLayer('self_attn.k_norm.weight'), headDim);
  if (kind?.attention === 'sparse' && config.sparse) {
    const { indexDim } = config.sparse;
    search.matrix(names.indexer(layer, 'q_proj'), kvHeads * indexDim, hidden);
    search.matrix(names.indexer(layer, 'k_proj'), indexDim, hidden);
    search.vector(names.indexer(layer, 'q_norm'), indexDim);
    search.vector(names.indexer(layer, 'k_norm'), indexDim);
  }
  if (kind?.mlp === 'moe' && moe) searchMoe(search, names, { layer, hidden, moe });
  else {
    const width = config.denseIntermediate;
    search.mlp(names.denseMlp(layer, width), width, hidden);
  }
}

function searchMoe(
  search: WeightSearch,
  names: WeightNames,
  { layer, hidden, moe }: { layer: number; hidden: number; moe: MoeConfig },
): void {
  const { experts, intermediate, sharedIntermediate } = moe;
  search.matrix(names.router(layer), experts, hidden);
  if (moe.hasRoutingBias) search.vector(names.routerBias(layer), experts);
  for (let expert = 0; expert < experts; expert++) {
    search.mlp(
      names.expert(layer, expert, { experts, intermediate, hidden }),
      intermediate,
      hidden,
    );
  }
  const shared = names.sharedExpert(layer, sharedIntermediate);
  // The tensors decide, as in a load: exports exist that leave the config's field out.
  const isThere = search.has(shared.gate) || search.has(shared.down);
  if (isThere || moe.sharedExpert === 'present') search.mlp(shared, sharedIntermediate, hidden);
}

/** Collects what is found and what is not. */
class WeightSearch {
  readonly found = new Map<
    string,
    { readonly bytes: number; readonly layer: number | undefined }
  >();
  /** The layer that is looked at; undefined outside of layers. */
  layer: number | undefined;
  readonly #source: TensorSource;
  readonly #problems = new Set<string>();
  #wanted = 0;

  constructor(source: TensorSource) {
    this.#source = source;
  }

  has(spellings: Spellings): boolean {
    return hasWeight(this.#source, spellings);
  }

  vector(spellings: Spellings, length: number): void {
    this.#look(() => [findVector(this.#source, spellings, length)]);
  }

  matrix(spellings: Spellings, rows: number, columns: number): void {
    this.#look(() => {
      const { tensor, scales } = findPart(this.#source, { spellings, rows, columns });
      return scales ? [tensor, scales] : [tensor];
    });
  }

  mlp({ gate, up, down }: MlpNames, width: number, hidden: number): void {
    this.matrix(gate, width, hidden);
    this.matrix(up, width, hidden);
    this.matrix(down, hidden, width);
  }

  /** Keeps a problem of the checkpoint; everything else is thrown on. */
  note(error: unknown): void {
    if (!(error instanceof CheckpointError)) throw error;
    this.#problems.add(error.message);
  }

  result(layers: number): Pick<WeightCheck, 'problems' | 'wanted' | 'used' | 'layerBytes'> {
    const layerBytes = Array.from({ length: layers }, () => 0);
    let bytes = 0;
    for (const tensor of this.found.values()) {
      bytes += tensor.bytes;
      if (tensor.layer === undefined) continue;
      layerBytes[tensor.layer] = (layerBytes[tensor.layer] ?? 0) + tensor.bytes;
    }
    const used = { tensors: this.found.size, bytes };
    return { problems: [...this.#problems], wanted: this.#wanted, used, layerBytes };
  }

  #look(find: () => readonly StoredTensor[]): void {
    this.#wanted++;
    try {
      for (const { name, bytes } of find()) this.found.set(name, { bytes, layer: this.layer });
    } catch (error) {
      this.note(error);
    }
  }
}
