/** A checkpoint folder: one safetensors file, or shards whose index says where each tensor lies. */

import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { MappedFileOptions } from '@altstream/cuda-runtime';
import { CheckpointError } from '../errors/index.js';
import { SafetensorsFile } from './safetensors.js';
import type { FileAccess, StoredTensor, TensorSource } from './tensor-source.js';

const singleFile = 'model.safetensors';
const indexFile = 'model.safetensors.index.json';

/** All tensors of a checkpoint folder. With an index, exactly the tensors that the index names. */
export class Checkpoint implements TensorSource {
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Paths of the safetensors files. */
  readonly files: readonly string[];
  readonly #shards: ReadonlyMap<string, SafetensorsFile>;

  private constructor(
    shards: ReadonlyMap<string, SafetensorsFile>,
    tensors: ReadonlyMap<string, StoredTensor>,
  ) {
    this.#shards = shards;
    this.files = [...shards.keys()];
    this.tensors = tensors;
  }

  /**
   * Opens every file of the folder and checks all headers and the index.
   *
   * @throws CheckpointError
   */
  static async open(directory: string, options: MappedFileOptions = {}): Promise<Checkpoint> {
    const index = await readIndex(directory);
    if (index) return Checkpoint.#openShards(directory, index, options);
    const file = join(directory, singleFile);
    if (!(await isFile(file))) {
      throw new CheckpointError(
        'MODEL_CHECKPOINT_FILE',
        `\`${directory}\` holds neither \`${singleFile}\` nor \`${indexFile}\`; ` +
          'give the folder of a safetensors checkpoint',
        { facts: { directory } },
      );
    }
    const shard = await SafetensorsFile.open(file, options);
    return new Checkpoint(new Map([[file, shard]]), shard.tensors);
  }

  static async #openShards(
    directory: string,
    index: ReadonlyMap<string, string>,
    options: MappedFileOptions,
  ): Promise<Checkpoint> {
    const shards = new Map<string, SafetensorsFile>();
    try {
      for (const name of new Set(index.values())) {
        const file = join(directory, name);
        if (!(await isFile(file))) throw missingShard(directory, name, index);
        shards.set(file, await SafetensorsFile.open(file, options));
      }
      const tensors = new Map<string, StoredTensor>();
      for (const [name, shardName] of index) {
        const file = join(directory, shardName);
        const tensor = shards.get(file)?.tensors.get(name);
        if (!tensor) throw notInShard(name, file);
        tensors.set(name, tensor);
      }
      return new Checkpoint(shards, tensors);
    } catch (error) {
      for (const shard of shards.values()) await shard.close();
      throw error;
    }
  }

  /** See {@link TensorSource.read}. */
  async read(tensor: StoredTensor, start: number, into: Uint8Array): Promise<void> {
    const shard = this.#shards.get(tensor.file);
    if (!shard) throw new RangeError(`${tensor.name} is not from this checkpoint`);
    await shard.read(tensor, start, into);
  }

  /** See {@link TensorSource.access}. */
  access(): FileAccess {
    const all = [...this.#shards.values()].map((shard) => shard.access());
    return {
      mapped: all.reduce((sum, { mapped }) => sum + mapped, 0),
      read: all.reduce((sum, { read }) => sum + read, 0),
      reasons: [...new Set(all.flatMap(({ reasons }) => reasons))],
    };
  }

  /** See {@link TensorSource.close}. */
  async close(): Promise<void> {
    for (const shard of this.#shards.values()) await shard.close();
  }
}

/** Tensor name → shard name; undefined when the folder has no index. */
async function readIndex(directory: string): Promise<Map<string, string> | undefined> {
  const file = join(directory, indexFile);
  if (!(await isFile(file))) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw badIndex(file, `it is not JSON: ${(cause as Error).message}`);
  }
  const map = (json as { weight_map?: unknown } | null)?.weight_map;
  if (typeof map !== 'object' || map === null || Array.isArray(map)) {
    throw badIndex(file, '`weight_map` is no object');
  }
  const entries = Object.entries(map);
  if (entries.length === 0) throw badIndex(file, '`weight_map` is empty');
  for (const [name, shard] of entries) {
    // A shard is a file of this folder, so that an index cannot make us open other files.
    if (typeof shard === 'string' && shard === basename(shard) && shard.endsWith('.safetensors')) {
      continue;
    }
    throw badIndex(
      file,
      `\`${name}\` lies in ${JSON.stringify(shard)}, which is no .safetensors file of this folder`,
    );
  }
  return new Map(entries as [string, string][]);
}

function badIndex(file: string, problem: string): CheckpointError {
  return new CheckpointError('MODEL_CHECKPOINT_INDEX', `\`${file}\` is wrong: ${problem}`, {
    facts: { file, problem },
  });
}

function missingShard(
  directory: string,
  shard: string,
  index: ReadonlyMap<string, string>,
): CheckpointError {
  const count = [...index.values()].filter((name) => name === shard).length;
  return new CheckpointError(
    'MODEL_CHECKPOINT_SHARD_MISSING',
    `shard \`${shard}\` is missing in \`${directory}\`; the index places ${count} tensors in it`,
    { facts: { directory, shard, tensors: count } },
  );
}

function notInShard(tensor: string, file: string): CheckpointError {
  return new CheckpointError(
    'MODEL_CHECKPOINT_TENSOR_MISSING',
    `the index places tensor \`${tensor}\` in \`${file}\`, but that file does not have it`,
    { facts: { tensor, file } },
  );
}

/** A pipe or a device would be read without end. */
async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}
