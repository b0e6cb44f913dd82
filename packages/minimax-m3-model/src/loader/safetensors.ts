/**
 * One safetensors file, mapped once. Bytes are copied out of the mapping by the kernel, so that a
 * file which is cut, or a disk that fails, is an error instead of a signal.
 */

import { FileError, MappedFile, type MappedFileOptions } from '@altstream/cuda-runtime';
import { CheckpointError } from '../errors/index.js';
import { headerError, maxHeaderBytes, parseHeader } from './safetensors-header.js';
import type { FileAccess, StoredTensor, TensorSource } from './tensor-source.js';

const lengthBytes = 8;

/** The tensors of one `.safetensors` file. */
export class SafetensorsFile implements TensorSource {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly #mapped: MappedFile;

  private constructor(mapped: MappedFile, tensors: readonly StoredTensor[]) {
    this.#mapped = mapped;
    this.tensors = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  }

  /**
   * Opens a file and checks its header.
   *
   * @throws CheckpointError `MODEL_CHECKPOINT_FILE`, `MODEL_CHECKPOINT_HEADER`
   */
  static async open(file: string, options: MappedFileOptions = {}): Promise<SafetensorsFile> {
    const mapped = await MappedFile.open(file, options).catch((cause: unknown) => {
      throw FileError.isInstance(cause) ? unreadable(file, cause) : cause;
    });
    try {
      return new SafetensorsFile(mapped, await readHeader(mapped));
    } catch (error) {
      mapped.dispose();
      throw error;
    }
  }

  /** See {@link TensorSource.access}. */
  access(): FileAccess {
    const { access, reason } = this.#mapped.describe();
    return {
      mapped: access === 'mapped' ? 1 : 0,
      read: access === 'read' ? 1 : 0,
      reasons: reason ? [reason] : [],
    };
  }

  /** See {@link TensorSource.read}. */
  async read(tensor: StoredTensor, start: number, into: Uint8Array): Promise<void> {
    if (start < 0 || start + into.byteLength > tensor.bytes) {
      throw new RangeError(
        `${tensor.name}: bytes ${start} to ${start + into.byteLength} of ${tensor.bytes} asked for`,
      );
    }
    await copyOut(this.#mapped, tensor.offset + start, into);
  }

  /** See {@link TensorSource.close}. */
  async close(): Promise<void> {
    this.#mapped.dispose();
  }
}

async function readHeader(mapped: MappedFile): Promise<StoredTensor[]> {
  const { file, bytes: size } = mapped;
  if (size < lengthBytes) {
    throw headerError(
      file,
      `it has ${size} bytes, not even the ${lengthBytes} of the header's length`,
    );
  }
  const prefix = Buffer.alloc(lengthBytes);
  await copyOut(mapped, 0, prefix);
  const length = prefix.readBigUInt64LE();
  if (length > BigInt(maxHeaderBytes)) {
    throw headerError(file, `it claims a header of ${length} bytes, above ${maxHeaderBytes}`);
  }
  const dataStart = lengthBytes + Number(length);
  if (dataStart > size) {
    throw headerError(file, `it claims a header of ${length} bytes, but has ${size} bytes in all`);
  }
  const header = Buffer.alloc(Number(length));
  await copyOut(mapped, lengthBytes, header);
  return parseHeader(file, decodeUtf8(file, header), { dataStart, dataBytes: size - dataStart });
}

function decodeUtf8(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw headerError(file, 'its header is not UTF-8');
  }
}

/** Fills `into`. @throws CheckpointError naming the file, and the byte where it ends or fails */
async function copyOut(mapped: MappedFile, position: number, into: Uint8Array): Promise<void> {
  await mapped.copy(position, into).catch((cause: unknown) => {
    if (!FileError.isInstance(cause)) throw cause;
    if (cause.code !== 'CRT_FILE_CUT') throw unreadable(mapped.file, cause);
    throw headerError(mapped.file, `it ends at byte ${cause.byte}; was it cut while being read?`);
  });
}

function unreadable(file: string, cause: FileError): CheckpointError {
  return new CheckpointError('MODEL_CHECKPOINT_FILE', `cannot read \`${file}\`: ${cause.message}`, {
    facts: { file, ...(cause.byte !== undefined && { byte: cause.byte }) },
    cause,
  });
}
