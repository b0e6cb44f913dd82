import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HashModelName, writeHashCheckpoint } from '@altstream/hash-checkpoint';

/** A checkpoint folder of hash weights that lives as long as a test file. */
export interface ModelFolder {
  readonly path: string;
  remove(): void;
}

/**
 * Writes a hash-weight model as a real checkpoint; its folder, and so its served name, is `name`.
 */
export async function makeModelFolder(
  name: HashModelName,
  options: { mxfp8?: boolean; shards?: number } = {},
): Promise<ModelFolder> {
  const parent = mkdtempSync(join(tmpdir(), 'altstream-'));
  const path = join(parent, name);
  await writeHashCheckpoint({
    model: name,
    mxfp8: options.mxfp8 ?? false,
    directory: path,
    ...(options.shards === undefined ? {} : { shards: options.shards }),
  });
  return { path, remove: () => rmSync(parent, { recursive: true, force: true }) };
}
