/** Writes safetensors files: one, or shards with an index. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type StoredTensor, storedBytes } from './hash-tensors.js';

/** What lies in one file. */
export interface WrittenFile {
  readonly file: string;
  readonly tensors: number;
  readonly bytes: number;
}

/**
 * Writes tensors in the given order, split into `shards` files of about equal size.
 *
 * One shard is `model.safetensors`; more are `model-0000i-of-0000n.safetensors` with
 * `model.safetensors.index.json`.
 */
export async function writeSafetensors(
  directory: string,
  tensors: readonly StoredTensor[],
  shards = 1,
): Promise<WrittenFile[]> {
  const groups = splitEvenly(tensors, shards);
  const names = groups.map((_, i) =>
    groups.length === 1
      ? 'model.safetensors'
      : `model-${pad(i + 1)}-of-${pad(groups.length)}.safetensors`,
  );
  const written = groups.map((group, i) => writeOne(directory, names[i] ?? '', group));
  if (groups.length > 1) {
    const map = groups.flatMap((group, i) => group.map(({ name }) => [name, names[i]] as const));
    const total = tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
    const index = { metadata: { total_size: total }, weight_map: Object.fromEntries(map) };
    const path = join(directory, 'model.safetensors.index.json');
    await writeFile(path, `${JSON.stringify(index, null, 2)}\n`);
  }
  return written;
}

/** The header of a safetensors file: 8 bytes of length, JSON, spaces up to a multiple of 8. */
export function safetensorsHeader(tensors: readonly StoredTensor[]): Buffer {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const tensor of tensors) {
    const { name, dtype, shape } = tensor;
    const end = offset + bytesOf(tensor);
    header[name] = { dtype, shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const padded = Math.ceil(json.length / 8) * 8;
  const buffer = Buffer.alloc(8 + padded, ' ');
  buffer.writeBigUInt64LE(BigInt(padded), 0);
  json.copy(buffer, 8);
  return buffer;
}

function writeOne(directory: string, file: string, tensors: readonly StoredTensor[]): WrittenFile {
  const descriptor = openSync(join(directory, file), 'w');
  try {
    let bytes = writeFully(descriptor, safetensorsHeader(tensors));
    for (const tensor of tensors) bytes += writeFully(descriptor, tensor.bytes);
    return { file, tensors: tensors.length, bytes };
  } finally {
    closeSync(descriptor);
  }
}

function writeFully(descriptor: number, part: Uint8Array): number {
  for (let done = 0; done < part.byteLength; ) done += writeSync(descriptor, part, done);
  return part.byteLength;
}

/** From the shape, so that no tensor is made only to be measured. */
function bytesOf({ dtype, shape }: StoredTensor): number {
  return shape.reduce((product, size) => product * size, storedBytes[dtype]);
}

function splitEvenly(tensors: readonly StoredTensor[], shards: number): StoredTensor[][] {
  const total = tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  const groups = Array.from({ length: shards }, (): StoredTensor[] => []);
  let before = 0;
  for (const tensor of tensors) {
    const middle = before + bytesOf(tensor) / 2;
    groups[Math.min(Math.floor((middle / total) * shards), shards - 1)]?.push(tensor);
    before += bytesOf(tensor);
  }
  return groups.filter((group) => group.length > 0);
}

function pad(number: number): string {
  return String(number).padStart(5, '0');
}
