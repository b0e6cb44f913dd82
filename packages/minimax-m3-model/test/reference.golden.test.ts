import { readFileSync } from 'node:fs';
import { hashTensors } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../src/config.js';
import { referenceModel } from './reference/model.js';
import { referenceWeights } from './reference/weights.js';

describe.each(['T32', 'T32-mxfp8'])('the float64 reference on %s', (name) => {
  it('has the logits and choices of the goldens', () => {
    const file = new URL(`fixtures/${name}.json`, import.meta.url);
    const golden = JSON.parse(readFileSync(file, 'utf8'));
    const config = parseModelConfig(golden.config);
    const mxfp8 = name.endsWith('mxfp8');
    const weights = referenceWeights(hashTensors(golden.config, { mxfp8 }));
    const run = referenceModel(config, weights, golden.token_ids);
    for (const [position, logits] of Object.entries<number[]>(golden.logits)) {
      const row = run.logits[Number(position)];
      expect(row?.length).toBe(logits.length);
      const worst = Math.max(...logits.map((value, i) => Math.abs(value - (row?.[i] ?? 0))));
      expect(worst).toBeLessThan(2e-5);
    }
    for (const [layer, rows] of Object.entries<{ pos: number; experts: number[] }[]>(
      golden.router,
    )) {
      for (const { pos, experts } of rows) {
        expect(run.experts[Number(layer)]?.[pos]).toEqual(experts);
      }
    }
    for (const [layer, rows] of Object.entries<{ pos: number; groups: number[][] }[]>(
      golden.blocks,
    )) {
      for (const { pos, groups } of rows) expect(run.blocks[Number(layer)]?.[pos]).toEqual(groups);
    }
  });
});
