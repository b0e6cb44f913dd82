import { describe, expect, it } from 'vitest';
import { checkSchemaSize } from './schema-size.js';

const list = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('schemas of tools', () => {
  it('have so many values together, and no more', () => {
    const half = { enum: list(32_765) };
    expect(() => checkSchemaSize([half, undefined, null, true, half], 'tools')).toThrow(
      /schemas of tools have more than 65536 values together/,
    );
    expect(() => checkSchemaSize([half, { enum: list(32_767) }], 'tools')).not.toThrow();
    expect(() => checkSchemaSize([half, { enum: list(32_768) }], 'tools')).toThrow(/values/);
  });

  it('are not looked at any further once they have too many', () => {
    const counts = { read: 0 };
    const one = {
      get type(): string {
        counts.read += 1;
        return 'string';
      },
    };
    const many = Array.from({ length: 60_000 }, () => ({ one }));
    expect(() => checkSchemaSize([many], 'tools')).toThrow(/values/);
    expect(counts.read).toBeGreaterThan(1000);
    expect(counts.read).toBeLessThan(4000);
  });
});
