/** What happened while a checkpoint was loaded, for logs and `describe()`. */

import type { DummyReport } from './dummy/dummy-source.js';
import type { RankPart, TensorParallel } from './shard.js';
import type { FileAccess } from './tensor-source.js';

/** A part of the checkpoint in numbers. */
export interface TensorCount {
  tensors: number;
  bytes: number;
}

/** A weight that was not stored as it was found. */
export interface Conversion {
  readonly tensor: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Facts about one load. */
export interface LoadReport {
  /** safetensors files that were opened. */
  readonly files: number;
  /** How their bytes were got; undefined for a source without files. */
  readonly access: FileAccess | undefined;
  /** How weights were made that no checkpoint has; undefined for real ones. */
  readonly dummy: DummyReport | undefined;
  /** Tensors that the model uses, scales included, and the bytes read from them. */
  readonly used: TensorCount;
  /** Bytes on the device. */
  readonly deviceBytes: number;
  /** Vision tensors, skipped: this is the text model. */
  readonly vision: TensorCount;
  /** Multi-token-prediction tensors, ignored. */
  readonly mtp: TensorCount;
  /** Names of tensors that nothing uses. */
  readonly unused: readonly string[];
  /** Matrices by how they are stored on the device. */
  readonly storage: Readonly<Record<'bf16' | 'f32' | 'mxfp8', number>>;
  readonly conversions: readonly Conversion[];
  /** MoE layers that have a shared expert. */
  readonly sharedExpertLayers: number;
  readonly tensorParallel: TensorParallel;
  /** What this rank holds; everything with one rank. */
  readonly part: RankPart;
  readonly seconds: number;
}

/** Called after each piece; `bytes` counts what was read so far. */
export type LoadProgress = (progress: {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly tensor: string;
}) => void;
