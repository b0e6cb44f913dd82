// Which model `npm start` serves: the one that the arguments name, or the demo model.

import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** True if the arguments of `altstream serve` name a model, in either spelling. */
export function namesModel(args) {
  return args.some((arg) => arg === '--model' || arg.startsWith('--model='));
}

/**
 * Makes sure that `folder` holds a whole checkpoint. `write` fills a folder beside it, which becomes
 * `folder` at the end: what an interrupted first start leaves behind is never served.
 */
export function ensureModel(folder, write) {
  if (existsSync(join(folder, 'config.json'))) return folder;
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  write(partial);
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
  return folder;
}
