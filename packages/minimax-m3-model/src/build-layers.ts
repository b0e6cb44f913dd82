/** Puts weights, kernels and decisions together into decoder layers. */

import { type PdlConfig, RoutedExperts, type RoutedExpertsWeights } from '@altstream/moe-kernels';
import type { Communicator } from './communicator.js';
import type { ModelConfig } from './config/model-config.js';
import { DecoderLayer, type LayerMlp } from './decoder-layer.js';
import { Attention } from './layers/attention.js';
import { DenseMlp } from './layers/dense-mlp.js';
import { type ExpertPath, MoeBlock } from './layers/moe-block.js';
import { RmsNorm } from './layers/rms-norm.js';
import { Router } from './layers/router.js';
import { SwigluMlp } from './layers/swiglu-mlp.js';
import type { Matrix, MlpWeights, ModelWeights, MoeWeights } from './loader/model-weights.js';
import type { Overlap } from './overlap.js';
import type { SharedExpertChoice } from './shared-expert/shared-expert-choice.js';

/** What all layers share. */
export interface LayerContext {
  readonly config: ModelConfig;
  readonly overlap: Overlap;
  readonly sharedExpert: Pick<SharedExpertChoice, 'wayOf'>;
  readonly communicator: Communicator | undefined;
  /** Programmatic launches of the routed experts. */
  readonly pdl: PdlConfig | undefined;
}

/** The layers, and the MoE blocks among them by layer. */
export interface BuiltLayers {
  readonly layers: readonly DecoderLayer[];
  readonly moeBlocks: ReadonlyMap<number, MoeBlock>;
}

/** Builds every layer. */
export function buildLayers(
  { layers: weights, heads }: Pick<ModelWeights, 'layers' | 'heads'>,
  context: LayerContext,
): BuiltLayers {
  const { config, communicator } = context;
  const moeBlocks = new Map<number, MoeBlock>();
  const layers = weights.map((layerWeights, layer) => {
    const weightsOfHeads = { ...layerWeights.attention, heads };
    const block = buildMoeBlock(layer, layerWeights.moe, context);
    if (block) moeBlocks.set(layer, block);
    return new DecoderLayer({
      layer,
      inputNorm: new RmsNorm(layerWeights.inputNorm, config.rmsNormEps),
      attention: new Attention(layer, config, weightsOfHeads, communicator),
      postAttentionNorm: new RmsNorm(layerWeights.postAttentionNorm, config.rmsNormEps),
      mlp: block ?? buildDenseMlp(layerWeights.mlp, context),
    });
  });
  return { layers, moeBlocks };
}

function buildDenseMlp(weights: MlpWeights | undefined, context: LayerContext): LayerMlp {
  if (!weights) throw new RangeError('a layer has neither a dense MLP nor experts');
  return new DenseMlp(swigluMlp(weights, context.config), context.communicator);
}

function buildMoeBlock(
  layer: number,
  weights: MoeWeights | undefined,
  context: LayerContext,
): MoeBlock | undefined {
  const { config, overlap, sharedExpert, communicator } = context;
  const { moe } = config;
  if (!weights || !moe) return undefined;
  return new MoeBlock({
    layer,
    routed: expertPath(weights, weights.experts, context, 0),
    shared: weights.shared && swigluMlp(weights.shared, config),
    fused: weights.fused && expertPath(weights, weights.fused, context, 1),
    wayOf: (tokens) => sharedExpert.wayOf(tokens),
    overlap,
    communicator,
  });
}

/** Undefined for a rank without a hidden unit of the MLP. */
function swigluMlp(weights: MlpWeights, { swiglu }: ModelConfig): SwigluMlp | undefined {
  return weights.columns.count > 0 ? new SwigluMlp(weights, swiglu) : undefined;
}

/** Undefined for a rank without a hidden unit of the experts. */
function expertPath(
  weights: MoeWeights,
  experts: MlpWeights,
  { config: { swiglu, moe }, pdl }: LayerContext,
  sharedSlots: 0 | 1,
): ExpertPath | undefined {
  if (!moe || experts.columns.count === 0) return undefined;
  const stacked: RoutedExpertsWeights = {
    w13: expertWeight(experts.gateUp),
    w2: expertWeight(experts.down),
  };
  return {
    router: new Router(weights, moe, sharedSlots),
    experts: new RoutedExperts(stacked, {
      numExperts: moe.experts + sharedSlots,
      swiglu,
      ...(pdl && { pdl }),
    }),
  };
}

function expertWeight({ data, scales }: Matrix) {
  return scales ? { data, scales } : { data };
}
