import { spawnSync } from 'node:child_process';
import type { Finding } from './finding.js';

const commands: readonly { readonly name: string; readonly args: readonly string[] }[] = [
  { name: 'format and lint', args: ['exec', 'biome', 'ci', '.'] },
  { name: 'types', args: ['exec', 'turbo', 'run', 'typecheck', '--output-logs=errors-only'] },
  { name: 'unused code', args: ['exec', 'knip', '--no-progress'] },
  {
    name: 'package hygiene',
    args: [
      '--filter',
      './packages/*',
      '--filter',
      './apps/*',
      '--no-bail',
      'exec',
      'publint',
      '--pack',
      'pnpm',
      '--strict',
      '.',
    ],
  },
];

/** The checks that are other people's programs; their output is printed when they fail. */
export function external(root: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { name, args } of commands) {
    const result = spawnSync('pnpm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
    if (result.status === 0) continue;
    process.stdout.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
    const message = `exit code ${result.status ?? 'none'}; its output is above`;
    findings.push({ check: name, at: `pnpm ${args.join(' ')}`, message });
  }
  return findings;
}
