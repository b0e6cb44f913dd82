import type { WeightFormat } from '../arguments/expert-weight.js';
import type { KernelPlan } from '../kernel-plan.js';
import type { PdlChooser } from '../pdl.js';

/** What the choice depends on. */
export interface ExpertsShape {
  readonly tokens: number;
  readonly k: number;
  readonly localExperts: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly weights: WeightFormat;
  readonly activations: 'bf16' | 'f32';
  /** Whether the weights begin at a multiple of 16 bytes of their buffer; default true. */
  readonly isAligned?: boolean;
}

/** What the caller asks for. */
export interface ExpertsCall {
  /** Of a GPU; default by shape. */
  readonly path?: TensorCorePath | undefined;
  /** Of the first launch: the one before the projection, where there is one. Default: all alike. */
  readonly first?: PdlChooser | undefined;
}

/**
 * How a projection runs. On a GPU: `stream` reads weights once for 16 rows of an expert (decode;
 * where row tiles are few, the warps of a block share them), `tiled` multiplies tiles of 128 rows
 * (prefill) and `wgmma` the same by warpgroups, which Hopper has, all on bf16 tensor cores and with
 * the same bits; `simt` takes every other pair of types. The CPU has one way, `cpu`.
 */
export type ExpertsPath = 'cpu' | 'simt' | TensorCorePath;

/** Those of `ExpertsPath` that can be asked for. */
export type TensorCorePath = 'stream' | 'tiled' | 'wgmma';

/** The launch of a projection. */
export interface ExpertsPlan extends KernelPlan {
  readonly path: ExpertsPath;
  /** On path `wgmma`: the launch before, which fills the workspace with reordered activations. */
  readonly pack?: KernelPlan;
  /** How weights lie in memory: `plain` is row-major, as they are stored. */
  readonly layout: 'plain';
  /** Ways that were not taken, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** One of the two projections, as its kernels see it. */
export interface ExpertsProjection {
  readonly kernel: 'experts_gate_up' | 'experts_down';
  /** Columns of the weights. */
  readonly columns: number;
  /** Rows of activations. */
  readonly rows: number;
  /** Columns of the result. */
  readonly outputs: number;
  /** Results of 16 weight rows: 8 where half of them are gates and half ups. */
  readonly rowTileOutputs: number;
  /** Results of a unit on the CPU. */
  readonly cpuOutputs: number;
}

/** Pairs of a token and one of its experts. */
export function slotsOf({ tokens, k }: ExpertsShape): number {
  return tokens * k;
}
