import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSoak, type SoakReport } from '../../bench/load/soak.js';
import { makeMockFolder } from '../conformance/makers/mock-server.js';

const faults = [
  { kind: 'row', at: 20, every: 97 },
  { kind: 'step', at: 150, every: 400 },
  { kind: 'out-of-memory', during: 'prefill', at: 30, every: 100 },
];
const pageTokens = 8;

// The long one, with a model, is bench/soak.bench.ts.
describe('a small soak of a server on a mock', () => {
  let folder: string;
  let report: SoakReport;

  beforeAll(async () => {
    folder = makeMockFolder();
    const mock = (settings: object) => ['--mock-engine', JSON.stringify(settings)];
    report = await runSoak({
      model: [
        ...['--tokenizer', folder, '--served-model-name', 'soak', '--max-model-len', '384'],
        ...mock({ pageTokens }),
      ],
      limits: [
        // Steps that take time, so that answers grow side by side and pages run out.
        ...mock({ pageTokens, faults, decodeMs: 4 }),
        ...[
          '--max-num-seqs',
          '8',
          '--max-num-queued-reqs',
          '24',
          '--max-num-queued-tokens',
          '99999',
        ],
        ...['--num-gpu-blocks-override', '48'],
      ],
      ...{ requests: 35, rounds: 4, atOnce: 12, burst: 15, seed: 3, mostMs: 120_000 },
    });
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('loses nothing, leaves nothing behind, and answers as it would without load', () => {
    expect(report.problems).toEqual([]);
    expect(report.requests).toBe(200);
  });

  it('saw what it is about', () => {
    expect(Object.keys(report.ends)).toEqual(
      expect.arrayContaining([
        'failed internal_error',
        'failed invalid_json',
        'finished length',
        'left',
      ]),
    );
    expect(report.preemptions).toBeGreaterThan(0);
    expect(report.sameAnswers).toBeGreaterThan(60);
  });
});
