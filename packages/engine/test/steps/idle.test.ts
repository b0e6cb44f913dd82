import { describe, expect, it } from 'vitest';
import { MockEngine } from '../../src/index.js';

describe('idle', () => {
  it('waits for the step that runs on when the last request has ended', async () => {
    const engine = await MockEngine.create({ maxSequences: 2 });
    const { total } = engine.stats().pages;
    const freeAtEnd: number[] = [];
    const freeWhenIdle: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      for await (const event of engine.generate([1, 2, 3], { maxTokens: 4 })) {
        if (event.type === 'finish') freeAtEnd.push(engine.stats().pages.free);
      }
      await engine.idle();
      freeWhenIdle.push(engine.stats().pages.free);
    }
    expect(Math.min(...freeAtEnd)).toBeLessThan(total);
    expect(freeWhenIdle).toEqual(freeWhenIdle.map(() => total));
    await engine.close();
  });

  it('waits for requests that nobody has read yet', async () => {
    const engine = await MockEngine.create({ maxSequences: 1 });
    const ended: number[] = [];
    for (const id of [1, 2, 3])
      engine.submit([id], { maxTokens: 3 }, (event) => {
        if (event.type === 'finish') ended.push(id);
      });
    await Promise.all([engine.idle(), engine.idle()]);
    expect(ended).toEqual([1, 2, 3]);
    await engine.close();
  });

  it('resolves at once where nothing was asked, and when the engine closes meanwhile', async () => {
    const engine = await MockEngine.create({ decodeMs: 5 });
    await engine.idle();
    engine.submit([1], { maxTokens: 100 }, () => undefined);
    const idle = engine.idle();
    await engine.close();
    await idle;
    await engine.idle();
    expect(engine.stats().running).toBe(0);
  });
});
