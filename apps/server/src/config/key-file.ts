import { readFileSync, statSync } from 'node:fs';
import { ExitError } from '../errors/index.js';

/** Keys of a file, one a line; `#` begins a comment. A file that everybody can read is refused. */
export function readKeyFile(path: string): string[] {
  let text: string;
  let mode: number;
  try {
    mode = statSync(path).mode;
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ExitError('usage', `--api-key-file ${path} cannot be read`, { cause });
  }
  if (mode & 0o004) {
    throw new ExitError('usage', `--api-key-file ${path} can be read by everybody; chmod 600 it`);
  }
  const keys = text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((key) => key !== '');
  if (keys.length > 0) return keys;
  throw new ExitError('usage', `--api-key-file ${path} has no key`);
}
