import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readmeExamples } from '../src/documents/readme-examples.js';
import { readTree } from '../src/tree.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const examples = readmeExamples(readTree(root));

describe('the programs in the READMEs', () => {
  it('are there, one or more in every package that has code', () => {
    const folders = new Set(examples.map(({ folder }) => folder));
    const expected = [
      'attention-kernels',
      'cuda-runtime',
      'dense-kernels',
      'engine',
      'minimax-m3-chat',
      'minimax-m3-model',
      'moe-kernels',
    ].map((name) => `packages/${name}`);
    expect([...folders].filter((folder) => expected.includes(folder)).sort()).toEqual(expected);
  });

  it.each(examples)('$folder, example $number, runs and prints what it says', (given) => {
    const folder = join(root, given.folder);
    mkdirSync(join(folder, 'build/readme'), { recursive: true });
    const file = join(folder, 'build/readme', `example-${given.number}.ts`);
    writeFileSync(file, given.code);
    const result = spawnSync(
      process.execPath,
      ['--conditions=@altstream/source', '--import', 'tsx', file],
      { cwd: folder, encoding: 'utf8', timeout: 60_000 },
    );
    // A warning, and Node's hint how to see where it comes from.
    expect(result.stderr.replace(/.*Warning.*\n/gi, '')).toBe('');
    expect(result.status).toBe(0);
    for (const line of given.output) expect(result.stdout).toContain(line);
  });
});
