/**
 * One safetensors file, opened once and read by position.
 *
 * Node has no mmap. Positioned reads into small staging buffers use the same page cache, keep this
 * process's memory bounded whatever the size of the file, and report a failing disk as an error
 * instead of a signal.
 */

import { type FileHandle, open } from 'node:fs/promises';
import { CheckpointError } from '../errors/index.js';
import { headerError, maxHeaderBytes, parseHeader } from './safetensors-header.js';
import type { StoredTensor, TensorSource } from './tensor-source.js';

const lengthBytes = 8;

/** The tensors of one `.safetensors` file. */
export class SafetensorsFile implements TensorSource {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, tensors: readonly StoredTensor[]) {
    this.#handle = handle;
    this.tensors = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  }

  /**
   * Opens a file and checks its header.
   *
   * @throws CheckpointError `MODEL_CHECKPOINT_FILE`, `MODEL_CHECKPOINT_HEADER`
   */
  static async open(file: string): Promise<SafetensorsFile> {
    const handle = await open(file, 'r').catch((cause: unknown) => {
      throw unreadable(file, cause);
    });
    try {
      return new SafetensorsFile(handle, await readHeader(handle, file));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** See {@link TensorSource.read}. */
  async read(tensor: StoredTensor, start: number, into: Uint8Array): Promise<void> {
    if (start < 0 || start + into.byteLength > tensor.bytes) {
      throw new RangeError(
        `${tensor.name}: bytes ${start} to ${start + into.byteLength} of ${tensor.bytes} asked for`,
      );
    }
    await readFully(this.#handle, tensor.file, tensor.offset + start, into);
  }

  /** See {@link TensorSource.close}. */
  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function readHeader(handle: FileHandle, file: string): Promise<StoredTensor[]> {
  const { size } = await handle.stat();
  if (size < lengthBytes) {
    throw headerError(
      file,
      `it has ${size} bytes, not even the ${lengthBytes} of the header's length`,
    );
  }
  const prefix = Buffer.alloc(lengthBytes);
  await readFully(handle, file, 0, prefix);
  const length = prefix.readBigUInt64LE();
  if (length > BigInt(maxHeaderBytes)) {
    throw headerError(file, `it claims a header of ${length} bytes, above ${maxHeaderBytes}`);
  }
  const dataStart = lengthBytes + Number(length);
  if (dataStart > size) {
    throw headerError(file, `it claims a header of ${length} bytes, but has ${size} bytes in all`);
  }
  const header = Buffer.alloc(Number(length));
  await readFully(handle, file, lengthBytes, header);
  return parseHeader(file, decodeUtf8(file, header), { dataStart, dataBytes: size - dataStart });
}

function decodeUtf8(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw headerError(file, 'its header is not UTF-8');
  }
}

async function readFully(
  handle: FileHandle,
  file: string,
  position: number,
  into: Uint8Array,
): Promise<void> {
  for (let done = 0; done < into.byteLength; ) {
    const { bytesRead } = await handle
      .read(into, done, into.byteLength - done, position + done)
      .catch((cause: unknown) => {
        throw unreadable(file, cause);
      });
    if (bytesRead === 0) {
      throw headerError(file, `it ends at byte ${position + done}; was it cut while being read?`);
    }
    done += bytesRead;
  }
}

function unreadable(file: string, cause: unknown): CheckpointError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CheckpointError('MODEL_CHECKPOINT_FILE', `cannot read \`${file}\`: ${reason}`, {
    facts: { file },
    cause,
  });
}
