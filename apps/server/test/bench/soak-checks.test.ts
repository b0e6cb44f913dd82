import { describe, expect, it } from 'vitest';
import { bytesPerRequest } from '../../bench/load/memory-growth.js';
import {
  checkPages,
  compareEnds,
  compareMetrics,
  parseMetrics,
} from '../../bench/load/soak-checks.js';
import type { SoakEnd } from '../../bench/load/soak-client.js';

const finished: SoakEnd = { id: 'a', kind: 'finished', reason: 'stop' };
const line = { request: 'a', outcome: 'stop' };
const log = (...lines: object[]) => new Map([['a', lines]]);

describe('what a soak finds', () => {
  it.each([
    ['the same', finished, log(line), 0],
    ['a call, which the log has as a stop', { ...finished, reason: 'tool_calls' }, log(line), 0],
    ['a client that left before it was read', { id: 'a', kind: 'left' }, new Map(), 0],
    ['two ends', finished, log(line, line), 1],
    ['no end', finished, new Map(), 1],
    ['another end', finished, log({ ...line, outcome: 'length' }), 1],
    ['another code', { id: 'a', kind: 'failed', code: 'x' }, log({ ...line, code: 'y' }), 1],
    ['what is no answer', { id: 'a', kind: 'wrong', detail: '?' }, log(line), 1],
  ] as const)('in the log: %s', (_, end, lines, problems) => {
    expect(compareEnds([end], lines)).toHaveLength(problems);
  });

  it('in the metrics: other counts than in the log', () => {
    const metrics = parseMetrics('vllm:request_success_total{finished_reason="stop"} 2\n');
    expect(compareMetrics(metrics, [line])).toEqual(['stop: 2 in the metrics, 1 in the log']);
    expect(compareMetrics(metrics, [line, line])).toEqual([]);
  });

  it('of pages: those that are held, and books that do not balance', () => {
    const metrics = (pinned: number, errors: number) =>
      parseMetrics(
        [
          ...['free 8', 'evictable 0', `pinned ${pinned}`, 'reserved 0'].map((one) => {
            const [state, count] = one.split(' ');
            return `altstream_kv_pages{state="${state}"} ${count}`;
          }),
          `altstream_kv_ledger_errors_total{engine="0"} ${errors}`,
        ].join('\n'),
      );
    expect(checkPages(metrics(0, 0))).toEqual([]);
    expect(checkPages(metrics(1, 2))).toHaveLength(2);
    expect(checkPages(new Map())).not.toEqual([]);
  });

  it('of memory: what each request leaves, not what the first ones allocate, nor one high reading', () => {
    const grown = (bytes: readonly number[]) =>
      bytesPerRequest(bytes.map((one, n) => ({ requests: 100 * (n + 1), bytes: one })));
    expect(grown([1000, 50_000, 90_000, 90_000, 90_000, 90_000])).toBe(0);
    expect(grown([0, 800, 1600, 2400, 3200, 4000, 4800, 5600])).toBe(8);
    expect(grown([0, 0, 0, 0, 0, 0, 90_000, 0, 0, 0])).toBe(0);
    expect(grown([0, 0, 0, 0, 1000, 3000, 9000])).toBe(25);
    expect(() => grown([1])).toThrow(/four readings/);
  });
});
