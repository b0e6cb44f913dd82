import { mkdirSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { probe } from '@altstream/cuda-runtime';
import { gpus } from './gpus.js';
import type { HostCommand } from './host-command.js';

/**
 * Writes `results` with the machine and the commit into the folder that was asked for, if one was.
 */
export async function saveResults(
  { name, filters, out }: HostCommand,
  file: string,
  results: unknown,
): Promise<void> {
  if (out === undefined) return;
  const content = {
    command: ['run', name, ...filters].join(' '),
    commit: process.env['ALTSTREAM_COMMIT'] ?? 'unknown',
    date: new Date().toISOString(),
    node: process.version,
    kernel: release(),
    gpus: gpus(),
    backends: await probe(),
    results,
  };
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, file), `${JSON.stringify(content, null, 1)}\n`);
}
