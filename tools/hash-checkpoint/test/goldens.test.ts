import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { quantizedConfig } from '../src/config-variants.js';
import { hashConfig } from '../src/hash-config.js';
import { checkpointHash, hashTensors } from '../src/hash-tensors.js';
import { hashTokens } from '../src/hash-values.js';

const fixtures = new URL('../../../packages/minimax-m3-model/test/fixtures/', import.meta.url);

describe.each([
  ['T32', false],
  ['T32', true],
  ['T128', false],
  ['T128', true],
] as const)('%s, mxfp8 %s', (model, mxfp8) => {
  const file = new URL(`${model}${mxfp8 ? '-mxfp8' : ''}.json`, fixtures);
  if (!existsSync(file)) throw new Error(`golden file missing: ${file.pathname}`);
  const golden = JSON.parse(readFileSync(file, 'utf8'));
  const config = hashConfig(model);

  it('has the config of the goldens', () => {
    expect(mxfp8 ? quantizedConfig(config) : config).toEqual(golden.config);
  });

  it('has the tokens of the goldens', () => {
    const vocab = golden.config.text_config.vocab_size;
    expect(hashTokens(golden.token_ids.length, vocab)).toEqual(golden.token_ids);
  });

  it('has every byte of the goldens, made in less than three seconds of one core', () => {
    const started = process.cpuUsage();
    const tensors = hashTensors(config, { mxfp8 }).map((tensor) => ({ ...tensor }));
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(3);
    const { checkpoint } = golden;
    expect(tensors.length).toBe(checkpoint.tensors);
    const elements = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
    expect(tensors.reduce((sum, t) => sum + elements(t.shape), 0)).toBe(checkpoint.elements);
    const facts = tensors.map((t) => {
      const hash = createHash('sha256').update(t.bytes).digest('hex').slice(0, 16);
      const head = Buffer.from(t.bytes.subarray(0, 8)).toString('hex');
      return [t.name, [t.dtype, t.shape, hash, head]];
    });
    expect(Object.fromEntries(facts)).toEqual(checkpoint.tensor);
    expect(checkpointHash(tensors)).toBe(checkpoint.sha256);
    if (mxfp8) {
      const ofType = (dtype: string) => tensors.filter((t) => t.dtype === dtype);
      expect(checkpointHash(ofType('F8_E4M3'))).toBe(checkpoint.sha256_quantised);
      expect(checkpointHash(ofType('U8'))).toBe(checkpoint.sha256_scales);
    }
  });
});
