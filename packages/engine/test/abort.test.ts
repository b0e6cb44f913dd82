import { describe, expect, it } from 'vitest';
import { MockEngine, scriptedAnswers } from '../src/index.js';
import { collect, ids } from './makers/counting.js';
import { until } from './makers/until.js';

describe('engine.abort', () => {
  it('gives up the request of the id, in every state, and no other', async () => {
    const engine = await MockEngine.create({
      answer: scriptedAnswers([[7]]),
      maxSequences: 2,
      maxBatchedTokens: 8,
      checkLedger: true,
    });
    const other = engine.generate([1], { maxTokens: 100 });
    const decoding = engine.generate([2, 3], { maxTokens: 4000 });
    const first = await decoding.next();
    expect(first.value).toMatchObject({ type: 'token', id: 7 });
    const waiting = engine.generate([4]);
    const waits = collect(waiting);
    expect(engine.abort(waiting.id)).toBe(true);
    expect(await waits).toMatchObject([{ reason: 'abort', generatedTokens: 0 }]);
    expect(engine.abort(decoding.id)).toBe(true);
    expect((await collect(decoding)).at(-1)).toMatchObject({ type: 'finish', reason: 'abort' });
    const prefilling = engine.generate(new Array(2000).fill(5));
    const prefills = collect(prefilling);
    await until(() => engine.stats().pages.reserved >= 120);
    expect(engine.abort(prefilling.id)).toBe(true);
    expect(await prefills).toMatchObject([{ reason: 'abort', generatedTokens: 0 }]);
    expect(ids(await collect(other))).toHaveLength(100);
    await engine.idle();
    expect(engine.stats().pages).toMatchObject({ pinned: 0, reserved: 0 });
    await engine.close();
  });

  it('says that a request had ended, or never was, and may be called twice', async () => {
    const engine = await MockEngine.create();
    const ended = engine.generate([1], { maxTokens: 1 });
    await collect(ended);
    expect([engine.abort(ended.id), engine.abort(99)]).toEqual([false, false]);
    const twice = engine.generate([1]);
    expect([engine.abort(twice.id), engine.abort(twice.id)]).toEqual([true, true]);
    expect(await collect(twice)).toMatchObject([{ reason: 'abort' }]);
    expect(engine.abort(twice.id)).toBe(false);
    await engine.close();
  });
});
