import { realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { ApiError } from '../errors/index.js';
import { fieldError } from '../openai/parse-body.js';

/**
 * Path of a new profile. A folder of the request must exist below the server's own one, with every
 * link followed, so that nothing is written elsewhere.
 */
export async function profileFile(root: string | undefined, folder = '.'): Promise<string> {
  if (root === undefined) {
    const message = 'this server was started without --profile-dir, where profiles would go';
    throw new ApiError({ status: 404, code: 'unsupported_endpoint', message });
  }
  const top = await realpath(root);
  const place = await realpath(resolve(top, folder)).catch(() => undefined);
  const isBelow = place === top || place?.startsWith(top + sep);
  if (!place || !isBelow || !(await stat(place)).isDirectory()) {
    throw fieldError('output_dir', 'expected an existing folder below --profile-dir');
  }
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return join(place, `altstream-${time}.json`);
}
