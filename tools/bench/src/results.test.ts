import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { BenchResult, BenchRow } from './bench-case.js';
import { plotSvg } from './plot.js';

import { compare, readResult } from './results.js';

function result(rows: readonly BenchRow[]): BenchResult {
  return { bench: 'topk', device: 'some cpu', commit: 'abc', command: 'x', date: '', rows };
}

const row = (tokens: number, us: number): BenchRow => ({ case: { tokens }, us, right: true });

describe('saved benches', () => {
  it('are compared case by case, with the geometric mean', () => {
    const { rows, geometricMean } = compare(
      result([row(1, 8), row(2, 9), row(3, 1)]),
      result([row(1, 4), row(2, 18), row(4, 1)]),
    );
    expect(rows).toHaveLength(2);
    expect(geometricMean).toBeCloseTo(1);
  });

  it('are refused if a row is wrong', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'bench-')), 'x.json');
    writeFileSync(file, JSON.stringify(result([{ case: { tokens: 7 }, right: false }])));
    expect(() => readResult(pathToFileURL(file))).toThrow(/wrong row: \{"tokens":7\}/);
    expect(readResult(pathToFileURL(`${file}.none`))).toBeUndefined();
  });

  it('are drawn as one SVG without anything from outside', () => {
    const svg = plotSvg(
      [
        {
          name: 'a<b',
          points: [
            { x: 1, y: 3 },
            { x: 64, y: 90 },
          ],
        },
      ],
      {
        title: 'T & U',
        xLabel: 'tokens',
        yLabel: 'µs',
      },
    );
    expect(svg).toMatch(/^<svg [^>]*viewBox/);
    expect(svg).toContain('a&lt;b');
    expect(svg).toContain('T &amp; U');
    expect(svg).not.toMatch(/href|<script|url\(/);
  });
});
