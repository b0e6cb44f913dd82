import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { HostCommand } from './host-command.js';
import { requiredCuda } from './required-cuda.js';

/**
 * A long life of cuda-runtime in a short time, on CUDA unless `--backend cpu` is given.
 * @throws Error with the probe's reason if there is no usable GPU
 */
export async function soak(root: string, { flags, out }: HostCommand): Promise<number> {
  const isChosen = flags.includes('--backend');
  if (!isChosen) await requiredCuda();
  const folder = resolve(out ?? mkdtempSync(join(tmpdir(), 'altstream-soak-')));
  mkdirSync(folder, { recursive: true });
  const script = join(root, 'packages/cuda-runtime/test/soak/main.ts');
  const all = [...(isChosen ? [] : ['--backend', 'cuda']), ...flags, '--out', folder];
  const args = ['--conditions=@altstream/source', '--import', 'tsx', script, ...all];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}
