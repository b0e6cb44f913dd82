import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** xz's preset; `quick` is for a try. */
export type Preset = 'small' | 'quick';

const levels = { small: '-6', quick: '-1' } as const;

/**
 * This Node without its symbols, compressed; kept in `cache`, since it takes half a minute.
 * @returns path of the .xz file
 * @throws Error if `strip` or `xz` is missing or fails
 */
export function compressedNode(cache: string, preset: Preset): string {
  const { version, arch } = process;
  const { size } = statSync(process.execPath);
  const file = join(cache, `node-${version}-${arch}-${size}-${preset}.xz`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const copy = join(cache, `node-${process.pid}`);
  copyFileSync(process.execPath, copy);
  run('strip', ['--strip-all', copy]);
  run('xz', [levels[preset], '-T0', '--force', copy]);
  renameSync(`${copy}.xz`, file);
  return file;
}

/** Packs the folder `name` of `parent` into `file`, the same bytes for the same content. */
export function compressFolder(parent: string, name: string, file: string, preset: Preset): void {
  const tar = `${file}.${process.pid}`;
  run('tar', [
    '--create',
    `--file=${tar}`,
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--directory=${parent}`,
    name,
  ]);
  run('xz', [levels[preset], '-T0', '--force', tar]);
  renameSync(`${tar}.xz`, file);
}

function run(command: string, args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error)
    throw new Error(`${command} does not start; install it to pack a bundle`, { cause: error });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
}
