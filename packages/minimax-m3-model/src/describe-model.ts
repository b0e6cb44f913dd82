/** The answer to "what was chosen?". */

import type { Device, Runtime } from '@altstream/cuda-runtime';
import type { PdlPolicy } from '@altstream/moe-kernels';
import type { ModelConfig } from './config/model-config.js';
import type { MoeBlock } from './layers/moe-block.js';
import type { LoadReport } from './loader/load-report.js';
import type { Overlap } from './overlap.js';
import type { SharedExpertChoice } from './shared-expert/shared-expert-choice.js';

/** Who sums the parts of a rank that has no communicator. */
export const uncommunicated = 'nobody: partial sums, for measuring only';

/** What is known about a model. */
export interface ModelFacts {
  readonly config: ModelConfig;
  readonly report: LoadReport;
  readonly runtime: Runtime;
  readonly device: Device;
  readonly pageTokens: number;
  readonly pageBytes: number;
  readonly activations: string;
  readonly sums: string;
  readonly overlap: Overlap;
  readonly sharedExpert: SharedExpertChoice;
  readonly moeBlocks: ReadonlyMap<number, MoeBlock>;
  readonly pdl: PdlPolicy;
}

/** Plain data about a loaded model, for logs and the server. */
export function describeModel(model: ModelFacts): Record<string, unknown> {
  const { config, report, overlap, runtime } = model;
  const count = (kind: 'full' | 'sparse' | 'dense' | 'moe') =>
    config.layers.filter(({ attention, mlp }) => attention === kind || mlp === kind).length;
  return {
    modelType: config.modelType,
    loadFormat: report.dummy ? 'dummy' : 'safetensors',
    outputs: describeOutputs(model),
    backend: runtime.backend,
    device: model.device.name,
    activations: model.activations,
    layers: {
      full: count('full'),
      sparse: count('sparse'),
      dense: count('dense'),
      moe: count('moe'),
    },
    vocabSize: config.vocabSize,
    maxPositions: config.maxPositions,
    tiedEmbeddings: config.tiedEmbeddings,
    cache: { pageTokens: model.pageTokens, pageBytes: model.pageBytes },
    overlap: { mode: overlap.mode, alternateStream: overlap.alternateName },
    routing: describeRouting(model),
    pdl: describePdl(model),
    sharedExpert: { ...model.sharedExpert.describe(), layers: report.sharedExpertLayers },
    tensorParallel: {
      ...report.tensorParallel,
      part: report.part,
      embedding: describeEmbedding(report, config),
      lmHead: report.tensorParallel.size > 1 ? 'split over the vocabulary' : 'whole',
      sums: model.sums,
    },
    weights: report,
  };
}

/** How the last pass chose experts and grouped its tokens by them. */
function describeRouting({ moeBlocks }: ModelFacts): unknown {
  const [block] = moeBlocks.values();
  const plan = block?.describeRouting();
  if (!plan) return 'no pass yet';
  const { path, steps, refused } = plan;
  return { path, kernels: steps.map(({ kernel }) => kernel), refused };
}

/**
 * The limit of programmatic launches, and what the last pass decided for each kernel of an expert
 * layer.
 */
function describePdl({ moeBlocks, pdl, device }: ModelFacts): unknown {
  const [block] = moeBlocks.values();
  const routed = block?.describeRouted();
  if (!routed) return 'no routed experts on this rank';
  const dtype = routed.weights === 'mxfp8' ? 'mxfp8' : 'bf16';
  // Of a pass that every limit but 0 allows, by a kernel that could.
  const {
    tokens: _,
    limit,
    ...decision
  } = pdl.chooser(dtype)({
    tokens: 1,
    device: device.limits,
    waits: true,
  });
  const routing = block?.describeRouting()?.steps ?? [];
  const steps = [...routing, ...(routed.lastPlan?.steps ?? [])];
  return {
    dtype,
    maxTokens: Number.isFinite(limit) ? limit : 'unlimited',
    ...decision,
    lastPass: steps.map(({ kernel, pdl: { enabled, tokens, reason } }) => {
      return { kernel, tokens, enabled, ...(reason !== undefined && { reason }) };
    }),
  };
}

/** Why answers mean nothing, for those who see only them. */
function describeOutputs({ report, sums }: ModelFacts): string {
  const { rank, size } = report.tensorParallel;
  const reasons = [
    ...(report.dummy ? ['the weights are random'] : []),
    ...(sums === uncommunicated ? [`rank ${rank} of ${size} runs without the others`] : []),
  ];
  return reasons.length > 0 ? `mean nothing: ${reasons.join(', and ')}` : 'of the checkpoint';
}

function describeEmbedding(
  { tensorParallel, part }: LoadReport,
  { vocabSize }: ModelConfig,
): string {
  if (tensorParallel.size === 1) return 'whole';
  // One token over several ranks is whole on the first, but split all the same.
  const isAlone = part.embedding.count === vocabSize && part.vocab.count < vocabSize;
  return isAlone ? 'whole: nobody would sum its parts' : 'split over the vocabulary';
}
