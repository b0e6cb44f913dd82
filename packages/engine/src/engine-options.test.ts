import { describe, expect, it } from 'vitest';
import { type EngineOptions, settleOptions } from './engine-options.js';
import { ParameterError } from './errors/index.js';
import type { CausalModel } from './model.js';

/** Only the sizes matter here. */
const modelOf = (maxPositions: number, pageBytes: number, backend = 'cpu'): CausalModel =>
  ({ maxPositions, pageTokens: 16, pageBytes, runtime: { backend } }) as CausalModel;

/** Options with their pages; 0 where they will be measured. */
function settle(options: EngineOptions) {
  const { cache, ...settled } = settleOptions(options);
  return { ...settled, cache, pages: 'pages' in cache ? cache.pages : 0 };
}

describe('the default number of pages', () => {
  it('lets every sequence have the whole context', () => {
    const { pages, maxModelLength } = settle({
      model: modelOf(1000, 1024),
      maxSequences: 8,
    });
    expect([pages, maxModelLength]).toEqual([8 * 63, 1000]);
  });

  it('takes a shorter context that was asked for', () => {
    const model = modelOf(1000, 1024);
    expect(settle({ model, maxSequences: 8, maxModelLength: 100 }).pages).toBe(8 * 7);
  });

  it('ends at 1 GiB, and the context with it', () => {
    const options = settle({ model: modelOf(2 ** 20, 2 ** 20), maxSequences: 8 });
    expect([options.pages, options.maxModelLength]).toEqual([1024, 16 * 1024]);
  });

  it('holds one sequence of a length that was asked for, also beyond 1 GiB', () => {
    const model = modelOf(2 ** 20, 2 ** 20);
    const options = settle({ model, maxSequences: 8, maxModelLength: 32_768 });
    expect([options.pages, options.maxModelLength]).toEqual([2048, 32_768]);
  });

  it('lets a sequence be as long as the share of its tenant', () => {
    const model = modelOf(1000, 1024);
    const half = settle({ model, pages: 20, maxTenantShare: 0.5 });
    expect(half.maxModelLength).toBe(160);
    expect(
      settle({ model, maxModelLength: 320, maxSequences: 1, maxTenantShare: 0.5 }),
    ).toMatchObject({ pages: 40, maxModelLength: 320 });
    const long = () => settle({ model, pages: 20, maxTenantShare: 0.5, maxModelLength: 161 });
    expect(long).toThrow(
      /`maxModelLength` .*at most 160, what 10 pages \(a tenant's share of 20\)/,
    );
    for (const maxTenantShare of [0, 1.01, Number.NaN]) {
      expect(() => settle({ model, maxTenantShare })).toThrow(/`maxTenantShare`/);
    }
  });

  it('is enough for a length that is given, whatever the share', () => {
    const model = { ...modelOf(4096, 1), pageTokens: 128 };
    const one = { model, maxSequences: 1 };
    const settled = settle({ ...one, maxModelLength: 3712, maxTenantShare: 0.29 });
    expect(settled).toMatchObject({ pages: 100, maxModelLength: 3712 });
    for (let percent = 1; percent <= 100; percent += 1) {
      for (const maxModelLength of [1, 128, 129, 1000, 3712, 4096]) {
        const options = settle({ ...one, maxModelLength, maxTenantShare: percent / 100 });
        expect(options.maxModelLength).toBe(maxModelLength);
      }
    }
  });

  it('is at least one, however large a page is', () => {
    expect(settle({ model: modelOf(1000, 2 ** 31) }).pages).toBe(1);
  });
});

describe('an option that callers of JavaScript got wrong', () => {
  const wrong: [keyof EngineOptions, unknown][] = [
    ['schedulingPolicy', 'lifo'],
    ['schedulingPolicy', {}],
    ['logprobsMode', 'cooked'],
    ['maxWaitingTokens', 0],
    ['maxWaitingTokens', Number.NaN],
    ['maxWaitingTokens', '5'],
    ['maxWaiting', Number.NaN],
    ['graphSizes', 5],
    ['graphSizes', {}],
    ['lookAhead', 'no'],
    ['prefixCaching', 0],
    ['checkLedger', 1],
    ['tokenBytes', {}],
    ['onTrace', 'file'],
    ['now', 5],
  ];
  it.each(wrong)('is refused by its name: %s = %s', (name, value) => {
    const make = () => settle({ model: modelOf(1000, 1024), [name]: value } as EngineOptions);
    expect(make).toThrow(ParameterError);
    expect(make).toThrow(new RegExp(`^\`${name}\` is .+, expected .+`));
  });

  it('is none where it has a value that it may have', () => {
    const right = { schedulingPolicy: 'priority', maxWaitingTokens: 1, lookAhead: false } as const;
    expect(settle({ model: modelOf(1000, 1024), ...right })).toMatchObject(right);
    expect(settle({ model: modelOf(1000, 1024) }).maxWaitingTokens).toBeUndefined();
  });
});

describe('which log-probabilities are told', () => {
  it('are the model’s, unless those of the draw are asked for', () => {
    const model = modelOf(1000, 1);
    expect(settle({ model }).logprobsMode).toBe('raw');
    expect(settle({ model, logprobsMode: 'processed' }).logprobsMode).toBe('processed');
    const logprobsMode = 'raw_logits' as 'raw';
    expect(() => settle({ model, logprobsMode })).toThrow(
      "`logprobsMode` is raw_logits, expected 'raw' or 'processed'",
    );
  });
});

describe('measuring the memory', () => {
  it('is the default on CUDA with nine tenths of it, and asked for on the CPU', () => {
    expect(settle({ model: modelOf(1000, 1, 'cuda') }).cache).toEqual({ fraction: 0.9 });
    const model = modelOf(1000, 1);
    expect(settle({ model, memoryFraction: 0.5 }).cache).toEqual({ fraction: 0.5 });
    expect(settle({ model, memoryFraction: 0.5, pages: 7 }).cache).toMatchObject({ pages: 7 });
  });

  it.each([0, -1, 1.01, Number.NaN])('refuses a fraction of %s', (memoryFraction) => {
    expect(() => settle({ model: modelOf(1000, 1), memoryFraction })).toThrow(
      `\`memoryFraction\` is ${memoryFraction}, expected a number above 0, at most 1`,
    );
  });
});
