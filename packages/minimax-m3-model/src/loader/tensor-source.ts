/** Where weights come from. The loader knows a checkpoint by this interface only. */

import type { Stream, Tensor } from '@altstream/cuda-runtime';

/** Element types of safetensors that have a fixed number of whole bytes. */
export const storedDTypeBytes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E5M2: 1,
  F8_E4M3: 1,
  F8_E8M0: 1,
  I16: 2,
  U16: 2,
  F16: 2,
  BF16: 2,
  I32: 4,
  U32: 4,
  F32: 4,
  I64: 8,
  U64: 8,
  F64: 8,
} as const;

/** An element type as safetensors names it. */
export type StoredDType = keyof typeof storedDTypeBytes;

/** A tensor of a checkpoint, checked: its bytes lie inside its file. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: StoredDType;
  readonly shape: readonly number[];
  /** File that holds it, for messages. */
  readonly file: string;
  /** First byte in that file. */
  readonly offset: number;
  readonly bytes: number;
}

/** How the bytes of files are got. */
export interface FileAccess {
  /** Files whose bytes the kernel copies out of a mapping. */
  readonly mapped: number;
  /** Files that are read by position. */
  readonly read: number;
  /** Why files are read, each reason once. */
  readonly reasons: readonly string[];
}

/** A set of named tensors whose bytes can be read piece by piece. */
export interface TensorSource {
  /** All tensors by name. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /**
   * Fills `into` with bytes of a tensor, from byte `start` of the tensor on.
   *
   * @throws CheckpointError when the file ends early or cannot be read
   */
  read(tensor: StoredTensor, start: number, into: Uint8Array): Promise<void>;
  /**
   * Writes a tensor's values to device memory, in the type that this has. A source that makes
   * weights has it, and is then never read.
   */
  fill?(tensor: StoredTensor, into: Tensor, stream: Stream): Promise<void>;
  /** How bytes are got, for the load report; absent where there are no files. */
  access?(): FileAccess;
  /** Closes the files. Reads after that fail. */
  close(): Promise<void>;
}
