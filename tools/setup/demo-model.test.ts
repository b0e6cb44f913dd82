import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureModel, namesModel } from './demo-model.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'demo-model-'));
});
afterEach(() => rmSync(root, { recursive: true }));

it.each([
  [['--model', 'DIR'], true],
  [['--port', '1', '--model=DIR'], true],
  [['--port', '1'], false],
  [['--model-name', 'x'], false],
])('%j names a model: %s', (args, expected) => {
  expect(namesModel(args)).toBe(expected);
});

it('writes the model again after a start that was interrupted, and once only', () => {
  const folder = join(root, 'model');
  let writes = 0;
  const begin = (target: string) => {
    writes += 1;
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, 'config.json'), '{}');
  };
  const interrupted = (target: string) => {
    begin(target);
    throw new Error('interrupted');
  };
  expect(() => ensureModel(folder, interrupted)).toThrow('interrupted');
  const whole = (target: string) => {
    expect(existsSync(join(target, 'config.json'))).toBe(false);
    begin(target);
    writeFileSync(join(target, 'model.safetensors'), 'weights');
  };
  expect(ensureModel(folder, whole)).toBe(folder);
  expect(ensureModel(folder, whole)).toBe(folder);
  expect(writes).toBe(2);
  expect(existsSync(join(folder, 'model.safetensors'))).toBe(true);
  expect(existsSync(`${folder}.partial`)).toBe(false);
});
