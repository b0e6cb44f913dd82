/**
 * Parses `config.json` of a MiniMax-M3 checkpoint, in the nested spelling of the release and in the
 * flat one of transformers 5, into a `ModelConfig` that cannot be wrong.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agreed, ConfigFields, required, show } from './config/config-fields.js';
import { kernelLimits } from './config/kernel-limits.js';
import { parseLayerKinds } from './config/layer-kinds.js';
import type { ModelConfig, MoeConfig, SwigluConfig } from './config/model-config.js';
import { applyOverrides, type ConfigOverrides } from './config/overrides.js';
import { parseSparseAttention } from './config/sparse-attention.js';
import { ModelConfigError } from './errors/index.js';

/** Values of `model_type` that name a MiniMax-M3. */
export const supportedModelTypes: readonly string[] = [
  'minimax_m3_vl',
  'minimax_m3_vl_text',
  'minimax_m3_text',
  'minimax_m3',
];

/**
 * Reads and parses `config.json` of a checkpoint folder.
 *
 * @param overrides fields that replace those of the file
 * @throws ModelConfigError `MODEL_CONFIG_…`
 */
export async function readModelConfig(
  directory: string,
  overrides: ConfigOverrides = {},
): Promise<ModelConfig> {
  return parseModelConfig(applyOverrides(await readConfigJson(directory), overrides));
}

async function readConfigJson(directory: string): Promise<unknown> {
  const file = join(directory, 'config.json');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ModelConfigError(
      'MODEL_CONFIG_FILE',
      `cannot read \`${file}\`: ${messageOf(cause)}; give the folder of a MiniMax-M3 checkpoint`,
      { facts: { file }, cause },
    );
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ModelConfigError(
      'MODEL_CONFIG_JSON',
      `\`${file}\` is not valid JSON: ${messageOf(cause)}`,
      { facts: { file }, cause },
    );
  }
}

/**
 * Checks a parsed `config.json` and derives the geometry of the text model.
 *
 * @throws ModelConfigError naming the field, what was expected and what was found
 */
export function parseModelConfig(json: unknown): ModelConfig {
  const top = new ConfigFields(json);
  const modelType = checkModelType(top);
  const text = top.object('text_config') ?? top;
  refuseUnsupported(text);
  const quantization = parseQuantization(top);

  const layers = parseLayerKinds(text);
  const headDim = text.integer('head_dim', 1, kernelLimits.headDim);
  const kvHeads = text.integer('num_key_value_heads');
  const rotaryDim = parseRotaryDim(text, headDim);
  const isMoe = layers.some(({ mlp }) => mlp === 'moe');
  const isDense = layers.some(({ mlp }) => mlp === 'dense');
  const isSparse = layers.some(({ attention }) => attention === 'sparse');
  return {
    modelType,
    hidden: text.integer('hidden_size'),
    vocabSize: text.integer('vocab_size'),
    maxPositions: text.integer('max_position_embeddings'),
    rmsNormEps: text.positive('rms_norm_eps'),
    heads: parseHeads(text, kvHeads),
    kvHeads,
    headDim,
    rotaryDim,
    ropeTheta: parseRopeTheta(text),
    denseIntermediate: isDense ? text.integer('dense_intermediate_size') : 0,
    swiglu: parseSwiglu(text),
    moe: isMoe ? parseMoe(text) : undefined,
    sparse: isSparse ? parseSparseAttention(text, { kvHeads, rotaryDim }) : undefined,
    tiedEmbeddings:
      text.optionalBoolean('tie_word_embeddings') ??
      top.optionalBoolean('tie_word_embeddings') ??
      false,
    layers,
    quantization,
  };
}

function checkModelType(top: ConfigFields): string {
  const modelType = top.optionalText('model_type');
  if (modelType !== undefined && supportedModelTypes.includes(modelType)) return modelType;
  throw new ModelConfigError(
    'MODEL_CONFIG_MODEL_TYPE',
    `config.json: \`model_type\` is ${show(modelType)}; this package runs ` +
      `${supportedModelTypes.map((name) => `\`${name}\``).join(', ')}`,
    { facts: { field: 'model_type', expected: supportedModelTypes, received: modelType } },
  );
}

/**
 * Fields whose other values mean different arithmetic. `hidden_act` is not among them: exports
 * write "silu" there although every MiniMax-M3 uses the clamped SwiGLU.
 */
function refuseUnsupported(text: ConfigFields): void {
  text.optionalText('hidden_act');
  text.expectOneOf('use_gemma_norm', [true], 'norm weights are applied as 1 + w');
  text.expectOneOf('use_qk_norm', [true], 'queries and keys are normed');
  text.expectOneOf('qk_norm_type', ['per_head'], 'one norm vector serves all heads of a layer');
  text.expectOneOf('attention_output_gate', [false], 'there are no gate weights');
  text.expectOneOf('attention_bias', [false], 'projections have no bias');
  text.expectOneOf('scoring_func', ['sigmoid'], 'router scores are sigmoids');
  text.expectOneOf('norm_topk_prob', [true], 'router weights are always renormalised');
  text.expectOneOf('n_group', [0, 1], 'experts are not grouped');
  text.expectOneOf('topk_group', [0, 1], 'experts are not grouped');
  text.expectOneOf('rope_scaling', [], 'positions are not scaled');
  const rope = text.object('rope_parameters');
  rope?.expectOneOf('rope_type', ['default'], 'positions are not scaled');
}

function parseQuantization(top: ConfigFields): ModelConfig['quantization'] {
  const quantization = top.object('quantization_config');
  if (!quantization) return undefined;
  quantization.expectOneOf('quant_method', ['mxfp8'], 'weights are bf16, f32 or MXFP8');
  const block = quantization.raw('weight_block_size');
  if (block !== undefined && show(block) !== '[1,32]') {
    throw quantization.outOfRange('weight_block_size', '[1, 32], the block of MXFP8');
  }
  return 'mxfp8';
}

function parseHeads(text: ConfigFields, kvHeads: number): number {
  const heads = text.integer('num_attention_heads');
  if (heads % kvHeads === 0) return heads;
  throw text.outOfRange(
    'num_attention_heads',
    `a multiple of \`num_key_value_heads\` (${kvHeads}): each KV head serves as many query heads`,
  );
}

function parseRotaryDim(text: ConfigFields, headDim: number): number {
  const rope = text.object('rope_parameters');
  const fromFactor = (factor: number | undefined) => factor && factor * headDim;
  const rotaryDim = required(
    agreed({
      [text.where('rotary_dim')]: text.optionalInteger('rotary_dim'),
      [text.where('partial_rotary_factor')]: fromFactor(
        text.optionalPositive('partial_rotary_factor'),
      ),
      [text.where('rope_parameters.partial_rotary_factor')]: fromFactor(
        rope?.optionalPositive('partial_rotary_factor'),
      ),
    }),
    ['rotary_dim', 'partial_rotary_factor'],
  );
  if (Number.isInteger(rotaryDim) && rotaryDim % 2 === 0 && rotaryDim <= headDim) return rotaryDim;
  throw text.outOfRange(
    'rotary_dim',
    `an even number of at most \`head_dim\` (${headDim})`,
    `${rotaryDim}`,
  );
}

function parseRopeTheta(text: ConfigFields): number {
  const theta = agreed({
    [text.where('rope_theta')]: text.optionalPositive('rope_theta'),
    [text.where('rope_parameters.rope_theta')]: text
      .object('rope_parameters')
      ?.optionalPositive('rope_theta'),
  });
  return required(theta, ['rope_theta', 'rope_parameters.rope_theta']);
}

/** The config has no beta; every reference adds 1. Alpha and limit default to the model class's. */
function parseSwiglu(text: ConfigFields): SwigluConfig {
  return {
    alpha: text.optionalPositive('swiglu_alpha') ?? 1.702,
    beta: 1,
    limit: text.optionalPositive('swiglu_limit') ?? 7,
  };
}

function parseMoe(text: ConfigFields): MoeConfig {
  const intermediate = text.integer('intermediate_size');
  const experts = text.integer('num_local_experts', 1, kernelLimits.experts);
  const expertsPerToken = text.integer('num_experts_per_tok', 1, kernelLimits.expertsPerToken);
  if (expertsPerToken > experts) {
    throw text.outOfRange('num_experts_per_tok', `at most \`num_local_experts\` (${experts})`);
  }
  const shared = text.optionalInteger('n_shared_experts', 0);
  const sharedCount = shared === undefined || shared === 0 ? 1 : shared;
  return {
    experts,
    expertsPerToken,
    intermediate,
    sharedIntermediate:
      text.optionalInteger('shared_intermediate_size') ?? intermediate * sharedCount,
    sharedExpert: shared === undefined ? 'unstated' : shared === 0 ? 'absent' : 'present',
    routedScale: text.optionalPositive('routed_scaling_factor') ?? 1,
    hasRoutingBias: text.optionalBoolean('use_routing_bias') ?? true,
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
