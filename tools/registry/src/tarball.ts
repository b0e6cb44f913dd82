import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A tarball that was unpacked. */
export interface UnpackedTarball {
  /** Where the files lie. */
  readonly folder: string;
  /** Their paths in it, sorted. */
  readonly files: readonly string[];
}

/** Unpacks an npm tarball into `folder`, which is made. */
export function unpackTarball(tarball: Buffer, folder: string): UnpackedTarball {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xz', '--strip-components=1', '-C', folder], { input: tarball });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  return { folder, files };
}
