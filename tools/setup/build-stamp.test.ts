import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isBuilt, rememberBuild } from './build-stamp.mjs';

let root: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@test.invalid', ...args], {
    cwd: root,
  });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'build-stamp-'));
  for (const folder of ['src', 'dist', 'build/Release']) {
    mkdirSync(join(root, 'packages/a', folder), { recursive: true });
  }
  writeFileSync(join(root, '.gitignore'), 'dist/\nbuild/\n.tools/\n');
  writeFileSync(join(root, 'packages/a/src/a.ts'), 'one');
  writeFileSync(join(root, 'packages/a/dist/index.js'), 'built');
  writeFileSync(join(root, 'packages/a/build/Release/liba_cpu.so'), 'built');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'first');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

it('knows what was built, and nothing before that', () => {
  expect(isBuilt(root)).toBe(false);
  rememberBuild(root);
  expect(isBuilt(root)).toBe(true);
});

it.each([
  ['a changed source', () => writeFileSync(join(root, 'packages/a/src/a.ts'), 'two')],
  ['a new source', () => writeFileSync(join(root, 'packages/a/src/b.ts'), 'new')],
  ['another commit', () => git('commit', '--quiet', '--allow-empty', '--message', 'second')],
  ['an output that is gone', () => rmSync(join(root, 'packages/a/dist'), { recursive: true })],
  [
    'an output of another build',
    () => utimesSync(join(root, 'packages/a/build/Release/liba_cpu.so'), 1, 1),
  ],
  ['another compiler', () => vi.stubEnv('CXX', 'other')],
])('builds again after %s', (_, change) => {
  rememberBuild(root);
  change();
  expect(isBuilt(root)).toBe(false);
});

it('builds each time where git does not help', () => {
  rmSync(join(root, '.git'), { recursive: true });
  rememberBuild(root);
  expect(isBuilt(root)).toBe(false);
});
