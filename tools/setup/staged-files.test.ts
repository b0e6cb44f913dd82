import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stageFiles } from './staged-files.mjs';

let root: string;
let source: string;
let target: string;
const stripped: string[] = [];
const stage = (): void => stageFiles(target, (file) => stripped.push(basename(file)));

function write(folder: string, files: Readonly<Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), JSON.stringify(content));
  }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'staged-'));
  stripped.length = 0;
  source = join(root, 'a-kernels/build/Release');
  target = join(root, 'a-kernels-linux-x64');
  const manifest = { cpu: 'liba_cpu.so', fatbins: ['a.new.fatbin', 'a.same.fatbin'] };
  write(source, {
    'manifest.json': manifest,
    ...{ 'liba_cpu.so': 'cpu', 'a.new.fatbin': 'new', 'a.same.fatbin': 'same' },
  });
  write(target, {
    'package.json': { files: ['manifest.json', '*.so', '*.fatbin'] },
    'README.md': '',
  });
});
afterEach(() => rmSync(root, { recursive: true }));

const staged = ['README.md', 'a.new.fatbin', 'a.same.fatbin', 'liba_cpu.so', 'manifest.json'];

it('copies what the manifest lists, without symbols', () => {
  stage();
  expect(readdirSync(target).sort()).toEqual([...staged, 'package.json']);
  expect(readFileSync(join(target, 'a.new.fatbin'), 'utf8')).toBe('"new"');
  expect(stripped).toEqual(['liba_cpu.so']);
});

it('leaves what older builds left behind in neither place to be published', () => {
  write(source, { 'a.old.fatbin': 'old', 'libold_cpu.so': 'old' });
  write(target, { 'a.old.fatbin': 'old', 'a.older.fatbin': 'older', 'a.same.fatbin': 'before' });
  stage();
  expect(readdirSync(target).sort()).toEqual([...staged, 'package.json']);
  expect(readFileSync(join(target, 'a.same.fatbin'), 'utf8')).toBe('"same"');
});

it('has no fatbins where the build had no nvcc', () => {
  write(target, { 'a.same.fatbin': 'before' });
  write(source, { 'manifest.json': { cpu: 'liba_cpu.so', fatbins: [] } });
  stage();
  expect(readdirSync(target)).not.toContain('a.same.fatbin');
});

it('copies files that are named by the package, if it has no manifest', () => {
  write(target, { 'package.json': { files: ['a.node'] } });
  write(source, { 'a.node': 'addon' });
  stage();
  expect(readdirSync(target).sort()).toEqual(['README.md', 'a.node', 'package.json']);
  expect(stripped).toEqual(['a.node']);
});

it.each([
  ['a listed fatbin', 'a.new.fatbin', /^a-kernels: a\.new\.fatbin missing in /],
  ['the manifest', 'manifest.json', /^a-kernels: nothing to stage, .*manifest\.json is missing/],
  ['the build', '', /^a-kernels: build:native has not run/],
])('says what is missing, and changes nothing: %s', (_, name, message) => {
  rmSync(join(source, name), { recursive: true });
  write(target, { 'a.old.fatbin': 'old' });
  expect(stage).toThrow(message);
  expect(readdirSync(target).sort()).toEqual(['README.md', 'a.old.fatbin', 'package.json']);
});
