import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { probeSync } from '../../src/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const benches = readdirSync(join(root, 'bench')).filter((name) => name.endsWith('.bench.ts'));
const backends = probeSync().flatMap(({ backend, usable }) => (usable ? [backend] : []));
const out = mkdtempSync(join(tmpdir(), 'altstream-benches-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

describe.each(backends)('on %s', (backend) => {
  test.each(benches)('%s checks its results, times and keeps them', (file) => {
    const flags = ['--backend', backend, '--quick', '--out', join(out, backend)];
    const args = ['--conditions=@altstream/source', '--import', 'tsx', `bench/${file}`, ...flags];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: 'utf8',
    });
    expect(`${status} ${stderr}`).toBe('0 ');
    const bench = file.replace('.bench.ts', '');
    expect(stdout).toMatch(new RegExp(`^${bench} · `));
    const [saved = ''] = readdirSync(join(out, backend)).filter((name) => name.includes(bench));
    const result = JSON.parse(readFileSync(join(out, backend, saved), 'utf8'));
    expect(result).toMatchObject({ bench, command: expect.stringContaining('--quick') });
    expect(result.rows.length).toBeGreaterThan(0);
    for (const row of result.rows) {
      expect(row).toMatchObject({ right: true, us: expect.any(Number) });
      expect(row.us).toBeGreaterThan(0);
    }
  });
});
