import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { parentOf } from './parent.js';
import type { RequestFacts } from './request-facts.js';
import { partsOf } from './span-times.js';

const none = { prefillMs: null, tokensPerSecond: null, meanItlMs: null };
const facts = (timing: object, preparedMs?: number, pieces: object[] = []): RequestFacts =>
  ({
    startedMs: 1000,
    preparedMs,
    timing: { ...none, ...timing },
    pieces,
  }) as unknown as RequestFacts;

describe('the parts of a request', () => {
  it.each([
    [
      'whole',
      facts({ queueMs: 5, ttftMs: 9, decodeMs: 20, totalMs: 30 }, 2),
      ['tokenize 1000 1002', 'queue 1002 1005', 'prefill 1005 1009', 'decode 1009 1029'],
    ],
    [
      'with one token',
      facts({ queueMs: 5, ttftMs: 9, decodeMs: null, totalMs: 30 }, 2),
      ['tokenize 1000 1002', 'queue 1002 1005', 'prefill 1005 1009'],
    ],
    [
      'whose start was not seen',
      facts({ queueMs: null, ttftMs: 9, decodeMs: 20, totalMs: 30 }, 2),
      ['tokenize 1000 1002', 'prefill 1002 1009', 'decode 1009 1029'],
    ],
    [
      'given up while it waited',
      facts({ queueMs: null, ttftMs: null, decodeMs: null, totalMs: 30 }, 2),
      ['tokenize 1000 1002', 'queue 1002 1030'],
    ],
    [
      'given up while it was tokenized',
      facts({ queueMs: null, ttftMs: null, decodeMs: null, totalMs: 30 }),
      ['tokenize 1000 1030'],
    ],
  ])('%s', (_, given, expected) => {
    const texts = partsOf(given).map(({ name, start, end }) => `${name} ${start} ${end}`);
    expect(texts).toEqual(expected);
  });

  it('have the pieces of prompts that were computed in them', () => {
    const pieces = [
      { ms: 5, tokens: 128 },
      { ms: 7, tokens: 64 },
      { ms: 21, tokens: 200 },
    ];
    const times = { queueMs: 5, ttftMs: 9, decodeMs: 20, totalMs: 30 };
    const parts = partsOf(facts(times, 2, pieces)).filter((part) => part.pieces.length > 0);
    expect(parts.map(({ name, pieces }) => [name, pieces])).toEqual([
      [
        'prefill',
        [
          { at: 1005, tokens: 128 },
          { at: 1007, tokens: 64 },
        ],
      ],
      ['decode', [{ at: 1021, tokens: 200 }]],
    ]);
  });
});

describe('the parent of a request', () => {
  const id = '0af7651916cd43dd8448eb211c80319c';
  const span = 'b7ad6b7169203331';
  it.each([
    [`00-${id}-${span}-01`, 1],
    [`00-${id}-${span}-00`, 0],
    [`01-${id}-${span}-03-more`, 1],
  ])('is %s', (header, traceFlags) => {
    const found = trace.getSpanContext(parentOf(header, 'a=b'));
    expect(found).toMatchObject({ traceId: id, spanId: span, traceFlags, isRemote: true });
    expect(found?.traceState?.get('a')).toBe('b');
  });

  it.each([
    undefined,
    '',
    `ff-${id}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${id}-${'0'.repeat(16)}-01`,
    `00-${id.toUpperCase()}-${span}-01`,
    `00-${id}-${span}`,
    `00-${id}-${span}-01-${'x'.repeat(600)}`,
  ])('is none: %s', (header) => {
    expect(trace.getSpanContext(parentOf(header))).toBeUndefined();
  });
});
