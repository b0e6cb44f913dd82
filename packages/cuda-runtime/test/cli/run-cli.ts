import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of this package. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the command from its sources, with `PATH` and these variables and no others. */
export function cli(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const node = ['--import', 'tsx', '--conditions=@altstream/source'];
  const env = { PATH: process.env['PATH'], ...variables };
  const main = join(root, 'src/cli/main.ts');
  return spawnSync(process.execPath, [...node, main, ...args], {
    env,
    cwd: root,
    encoding: 'utf8',
    timeout: 50_000,
    killSignal: 'SIGKILL',
  });
}
