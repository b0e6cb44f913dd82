/** Checkpoint folders in a temporary place, removed when the test file ends. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HashCheckpointOptions, writeHashCheckpoint } from '@altstream/hash-checkpoint';
import { afterAll } from 'vitest';

/** A function that writes a hash-weight model and returns its folder. */
export function makeFolders(): (
  options: Omit<HashCheckpointOptions, 'directory'>,
) => Promise<string> {
  const made: string[] = [];
  afterAll(async () => {
    for (const directory of made) await rm(directory, { recursive: true, force: true });
  });
  return async (options) => {
    const directory = await mkdtemp(join(tmpdir(), 'minimax-m3-'));
    made.push(directory);
    await writeHashCheckpoint({ tokenizer: false, ...options, directory });
    return directory;
  };
}
