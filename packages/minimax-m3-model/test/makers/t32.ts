/** T32 checkpoints with other tensors in them. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackendName } from '@altstream/cuda-runtime/testing';
import {
  flatConfig,
  hashConfig,
  hashTensors,
  hashTokens,
  quantizedConfig,
  type StoredTensor,
  writeSafetensors,
} from '@altstream/hash-checkpoint';
import { makeFolders } from './folders.js';
import { makeModels } from './models.js';
import { Session } from './session.js';

/** The tensors of T32 as they should be. */
export const bf16: readonly StoredTensor[] = hashTensors(hashConfig('T32'));

/** The same, quantised. */
export const mxfp8: readonly StoredTensor[] = hashTensors(hashConfig('T32'), { mxfp8: true });

/** Where the names of layers begin. */
export const prefix = 'language_model.model.layers.';

/** Replaces, or with undefined removes, one tensor. */
export function replaced(
  tensors: readonly StoredTensor[],
  name: string,
  change?: Partial<StoredTensor>,
): StoredTensor[] {
  return tensors.flatMap((tensor) =>
    tensor.name !== name ? [tensor] : change ? [{ ...tensor, ...change }] : [],
  );
}

/** Writers and loaders that clean up when the suite ends. */
export function makeT32(backend: BackendName) {
  const folder = makeFolders();
  const load = makeModels(backend);
  const withTensors = async (tensors: readonly StoredTensor[], flat = false): Promise<string> => {
    const directory = await folder({ model: 'T32' });
    await writeSafetensors(directory, tensors);
    const isMx = tensors.some(({ dtype }) => dtype === 'F8_E4M3');
    const config = isMx ? quantizedConfig(hashConfig('T32')) : hashConfig('T32');
    const json = JSON.stringify(flat ? flatConfig(config) : config);
    await writeFile(join(directory, 'config.json'), json);
    return directory;
  };
  /** The model, and its logits behind 40 tokens. */
  const logitsOf = async (tensors: readonly StoredTensor[], flat = false) => {
    const model = await load({ directory: await withTensors(tensors, flat) });
    const session = new Session(model, 1, 40);
    const [rows = []] = await session.run([{ sequence: 0, tokens: hashTokens(40, 256) }]);
    return { model, last: rows.at(-1) ?? new Float32Array() };
  };
  return { folder, load, withTensors, logitsOf };
}
