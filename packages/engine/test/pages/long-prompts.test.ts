import { expect, it } from 'vitest';
import { MockEngine } from '../../src/index.js';
import { collect } from '../makers/counting.js';

it('a long prompt that is there is found over several turns, though nothing else is to be done', async () => {
  const decisions: unknown[] = [];
  const engine = await MockEngine.create({
    maxPositions: 20_000,
    maxBatchedTokens: 20_000,
    checkLedger: true,
    onTrace: (line) => {
      const { decided } = JSON.parse(line) as { decided?: { admitted: number[] } };
      if (decided) decisions.push(decided.admitted);
    },
  });
  const prompt = Array.from({ length: 16 * 1200 + 1 }, (_, index) => index % 251);
  await collect(engine.generate(prompt, { maxTokens: 1 }));
  await engine.idle();
  decisions.length = 0;
  const events = await collect(engine.generate(prompt, { maxTokens: 1 }));
  expect(events.at(-1)).toMatchObject({ reason: 'length', cachedTokens: 16 * 1200 });
  expect(decisions.slice(0, 3)).toEqual([[], [], [2]]);
  await engine.close();
});
