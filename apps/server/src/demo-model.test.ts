import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { demoModelFolder, demoSuite } from './demo-model.js';

const folder = mkdtempSync(join(tmpdir(), 'altstream-demo-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('says how to get what is not installed', () => {
  expect(() => demoModelFolder(null)).toThrow(/not installed.*npm install @altstream\/minimax-m3/);
  expect(() => demoSuite(null)).toThrow(/not installed.*--suite PATH/);
  expect(() => demoSuite(folder)).toThrow(/is not in .*--suite PATH/);
});

it('says that a package has no weights, before anything is loaded', () => {
  expect(() => demoModelFolder(folder)).toThrow(
    expect.objectContaining({
      exitCode: 3,
      message: expect.stringMatching(/has no weights: model\.safetensors\.index\.json.*restore/),
    }),
  );
});

it('finds the checkpoint in the package, and the suite beside it', () => {
  mkdirSync(join(folder, 'eval'));
  writeFileSync(join(folder, 'eval', 'demo.jsonl'), '');
  writeFileSync(join(folder, 'model.safetensors.index.json'), '{}');
  expect(demoModelFolder(folder)).toBe(folder);
  expect(demoSuite(folder)).toBe(join(folder, 'eval', 'demo.jsonl'));
});
