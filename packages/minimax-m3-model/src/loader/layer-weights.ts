/** Plans the weights of one decoder layer: which tensors, which of their rows and columns. */

import type { ModelConfig, MoeConfig } from '../config/model-config.js';
import { hasWeight, type MatrixPart, mxBlock } from './matrix-part.js';
import type { MatrixStorage } from './matrix-storage.js';
import type {
  AttentionWeights,
  LayerWeights,
  Matrix,
  MlpWeights,
  MoeWeights,
} from './model-weights.js';
import { type Range, splitHeads, splitUnits, type TensorParallel, times } from './shard.js';
import type { TensorSource } from './tensor-source.js';
import type { MatrixParts, WeightLoader } from './weight-loader.js';
import type { MlpNames, Spellings, WeightNames } from './weight-names.js';

/** What planning a layer needs. */
export interface LayerPlan {
  readonly source: TensorSource;
  readonly loader: WeightLoader;
  readonly names: WeightNames;
  readonly config: ModelConfig;
  readonly tensorParallel: TensorParallel;
  readonly layer: number;
}

/** Plans one layer; the bytes come when the loader runs. */
export function planLayer(plan: LayerPlan): LayerWeights {
  const { loader, names, config, layer } = plan;
  const isMoe = config.layers[layer]?.mlp === 'moe';
  return {
    inputNorm: loader.vector(names.inLayer(layer, 'input_layernorm.weight'), config.hidden),
    attention: planAttention(plan),
    postAttentionNorm: loader.vector(
      names.inLayer(layer, 'post_attention_layernorm.weight'),
      config.hidden,
    ),
    mlp: isMoe ? undefined : planDenseMlp(plan),
    moe: isMoe && config.moe ? planMoe(plan, config.moe) : undefined,
  };
}

/**
 * q and o are split by query heads, k, v and index q by KV heads; the one index key is whole on
 * every rank with heads, so ranks that share a KV head choose the same blocks.
 */
function planAttention(plan: LayerPlan): AttentionWeights {
  const { loader, names, config, tensorParallel, layer } = plan;
  const { hidden, heads, kvHeads, headDim } = config;
  const { queryHeads, kvHeads: groups } = splitHeads(config, tensorParallel);
  const rows = (name: string, total: number, part: Range): MatrixPart => ({
    spellings: names.inLayer(layer, name),
    rows: total * headDim,
    columns: hidden,
    rowRange: times(part, headDim),
  });
  const sparse = config.layers[layer]?.attention === 'sparse' ? config.sparse : undefined;
  const indexDim = sparse?.indexDim ?? 0;
  const qkv: [MatrixPart, ...MatrixPart[]] = [
    rows('self_attn.q_proj.weight', heads, queryHeads),
    rows('self_attn.k_proj.weight', kvHeads, groups),
    rows('self_attn.v_proj.weight', kvHeads, groups),
  ];
  if (sparse) {
    const all = kvHeads * indexDim;
    const queries = { spellings: names.indexer(layer, 'q_proj'), rows: all, columns: hidden };
    qkv.push({ ...queries, rowRange: times(groups, indexDim) });
    const key = { spellings: names.indexer(layer, 'k_proj'), rows: indexDim, columns: hidden };
    qkv.push({ ...key, rowRange: { start: 0, count: groups.count > 0 ? indexDim : 0 } });
  }
  const norm = (spellings: Spellings, length: number) => loader.vector(spellings, length);
  return {
    qkv: loader.matrix(qkv),
    output: loader.matrix([
      {
        spellings: names.inLayer(layer, 'self_attn.o_proj.weight'),
        rows: hidden,
        columns: heads * headDim,
        columnRange: times(queryHeads, headDim),
      },
    ]),
    qNorm: norm(names.inLayer(layer, 'self_attn.q_norm.weight'), headDim),
    kNorm: norm(names.inLayer(layer, 'self_attn.k_norm.weight'), headDim),
    indexQNorm: sparse && norm(names.indexer(layer, 'q_norm'), indexDim),
    indexKNorm: sparse && norm(names.indexer(layer, 'k_norm'), indexDim),
  };
}

function planDenseMlp(plan: LayerPlan): MlpWeights {
  const { loader, names, config, layer } = plan;
  const { hidden, denseIntermediate: width } = config;
  const mlp = names.denseMlp(layer, width);
  const range = splitColumns(plan, width, [mlp]);
  return loadMlp(loader, mlpParts(mlp, { hidden, width, range }));
}

function planMoe(plan: LayerPlan, moe: MoeConfig): MoeWeights {
  const { loader, names, config, layer } = plan;
  const { hidden } = config;
  const { experts, intermediate: width } = moe;
  const routedNames = Array.from({ length: experts }, (_, expert) =>
    names.expert(layer, expert, { experts, intermediate: width, hidden }),
  );
  const range = splitColumns(plan, width, routedNames);
  const routed = routedNames.map((expert) => mlpParts(expert, { hidden, width, range }));
  const shared = sharedParts(plan, moe);
  const canFuse = shared !== undefined && fits(loader, routed, shared, moe);
  const slots = canFuse ? [...routed, shared] : routed;
  const gateUpParts = slots.flatMap((slot) => slot.gateUp) as unknown as MatrixParts;
  const downParts = slots.map((slot) => slot.down) as unknown as MatrixParts;
  // The expert kernels take both matrices in one storage: the wider of the two.
  const storage = widest(loader.storageOf(gateUpParts), loader.storageOf(downParts));
  const gateUp = loader.matrix(gateUpParts, storage);
  const down = loader.matrix(downParts, storage);
  const all = {
    gateUp: viewExperts(gateUp, slots.length),
    down: viewExperts(down, slots.length),
    columns: range,
  };
  const bias = names.routerBias(layer);
  return {
    router: loader.matrix(
      [{ spellings: names.router(layer), rows: experts, columns: hidden }],
      'f32',
    ).data,
    routerBias: moe.hasRoutingBias ? loader.vector(bias, experts) : undefined,
    experts: {
      gateUp: take(all.gateUp, 0, experts),
      down: take(all.down, 0, experts),
      columns: range,
    },
    shared: canFuse
      ? { gateUp: one(all.gateUp, experts), down: one(all.down, experts), columns: range }
      : shared && loadMlp(loader, shared),
    fused: canFuse ? all : undefined,
  };
}

/** The tensors decide: exports exist that leave `n_shared_experts` out or write 0. */
function sharedParts(plan: LayerPlan, moe: MoeConfig): MlpParts | undefined {
  const { source, names, config, layer } = plan;
  const width = moe.sharedIntermediate;
  const sharedNames = names.sharedExpert(layer, width);
  const isThere = hasWeight(source, sharedNames.gate) || hasWeight(source, sharedNames.down);
  if (!isThere && moe.sharedExpert !== 'present') return undefined;
  const range = splitColumns(plan, width, [sharedNames]);
  return mlpParts(sharedNames, { hidden: config.hidden, width, range });
}

interface MlpParts {
  readonly gateUp: readonly [MatrixPart, MatrixPart];
  readonly down: MatrixPart;
  readonly columns: Range;
}

/**
 * The hidden units of a rank. Units of `down` that lie in one MXFP8 block share a scale and stay
 * together; otherwise rows keep the alignment that wide loads like, unless ranks would get nothing.
 */
function splitColumns(
  { loader, config, tensorParallel }: LayerPlan,
  width: number,
  mlps: readonly MlpNames[],
): Range {
  const downs = mlps.map(({ down }) => ({
    spellings: down,
    rows: config.hidden,
    columns: width,
  }));
  const isMx = loader.storageOf(downs as unknown as MatrixParts) === 'mxfp8';
  const canAlign = width % alignedUnits === 0 && width >= alignedUnits * tensorParallel.size;
  return splitUnits(width, tensorParallel, isMx ? mxBlock : canAlign ? alignedUnits : 1);
}

/** 16 bytes of bf16. */
const alignedUnits = 8;

function loadMlp(loader: WeightLoader, { gateUp, down, columns }: MlpParts): MlpWeights {
  return { gateUp: loader.matrix(gateUp), down: loader.matrix([down]), columns };
}

/** Gate and up are split by rows, down by columns, so each rank has whole hidden units. */
function mlpParts(
  names: MlpNames,
  size: { readonly hidden: number; readonly width: number; readonly range: Range },
): MlpParts {
  const { hidden, width, range } = size;
  const wide = { rows: width, columns: hidden, rowRange: range };
  return {
    gateUp: [
      { spellings: names.gate, ...wide },
      { spellings: names.up, ...wide },
    ],
    down: { spellings: names.down, rows: hidden, columns: width, columnRange: range },
    columns: range,
  };
}

/** True when the shared expert can be one more slot of the routed experts without conversion. */
function fits(
  loader: WeightLoader,
  routed: readonly MlpParts[],
  shared: MlpParts,
  moe: MoeConfig,
): boolean {
  const [first] = routed;
  if (!first || moe.sharedIntermediate !== moe.intermediate) return false;
  // Of equal width, but split in other units.
  if (first.columns.count !== shared.columns.count) return false;
  const storage = (parts: MlpParts) =>
    `${loader.storageOf(parts.gateUp)} ${loader.storageOf([parts.down])}`;
  return storage(first) === storage(shared);
}

function widest(a: MatrixStorage, b: MatrixStorage): MatrixStorage {
  const order: readonly MatrixStorage[] = ['mxfp8', 'bf16', 'f32'];
  return order[Math.max(order.indexOf(a), order.indexOf(b))] ?? 'f32';
}

function viewExperts({ data, scales }: Matrix, slots: number): Matrix {
  const view = (tensor: typeof data) => {
    const [rows = 0, columns = 0] = tensor.shape;
    return tensor.view([slots, rows / slots, columns]);
  };
  return { data: view(data), scales: scales && view(scales) };
}

function take({ data, scales }: Matrix, start: number, end: number): Matrix {
  return { data: data.slice(0, start, end), scales: scales?.slice(0, start, end) };
}

/** One expert as a plain matrix. */
function one(matrix: Matrix, slot: number): Matrix {
  const { data, scales } = take(matrix, slot, slot + 1);
  const flat = (tensor: typeof data) => tensor.view(tensor.shape.slice(1));
  return { data: flat(data), scales: scales && flat(scales) };
}
