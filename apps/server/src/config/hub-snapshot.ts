import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from './environment.js';

/**
 * Whether it could be a model's name on the Hugging Face hub: an owner and a name, neither of them
 * a path.
 */
export function isHubId(text: string): boolean {
  return /^(?!\.)[\w.-]+\/(?!\.)[\w.-]+$/.test(text);
}

/**
 * The folder that `hf download OWNER/NAME` left: the snapshot that its `main` names, or the only
 * one there is.
 *
 * @returns undefined for what is no such name, or was not downloaded
 */
export function hubSnapshot(
  id: string,
  cacheFolder = readEnvironment().hubCacheFolder,
): string | undefined {
  if (!isHubId(id)) return undefined;
  const model = join(cacheFolder, `models--${id.replace('/', '--')}`);
  const snapshots = join(model, 'snapshots');
  const commit = mainCommit(model) ?? onlyEntry(snapshots);
  if (commit === undefined) return undefined;
  const folder = join(snapshots, commit);
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : undefined;
}

function mainCommit(model: string): string | undefined {
  try {
    const commit = readFileSync(join(model, 'refs', 'main'), 'utf8').trim();
    return /^[0-9a-f]{7,64}$/.test(commit) ? commit : undefined;
  } catch {
    return undefined;
  }
}

function onlyEntry(folder: string): string | undefined {
  try {
    const entries = readdirSync(folder);
    return entries.length === 1 ? entries[0] : undefined;
  } catch {
    return undefined;
  }
}
