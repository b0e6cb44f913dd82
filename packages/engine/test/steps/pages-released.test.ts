import { describe, expect, it, onTestFinished } from 'vitest';
import { type GenerationEvent, MockEngine } from '../../src/index.js';

const prompt = Array.from({ length: 40 }, (_, id) => id);
/** Full pages of a prompt of 40 tokens and an answer of 8, in pages of 16. */
const fullPages = 2;

async function startEngine(lookAhead = true): Promise<MockEngine> {
  const engine = await MockEngine.create({ lookAhead, maxSequences: 2 });
  onTestFinished(() => engine.close());
  return engine;
}

/** Resolves with what is asked at the event that a request has ended. */
function atEnd<T>(engine: MockEngine, ask: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve) => {
    engine.submit(prompt, { maxTokens: 8 }, ({ type }) => {
      if (type === 'finish') resolve(ask());
    });
  });
}

describe('a flush of the prefix cache right behind the end of a request', () => {
  it('finds its pages held by the step under way', async () => {
    const engine = await startEngine();
    expect(await atEnd(engine, () => engine.flushPrefixCache())).toBe(0);
  });

  it.each([true, false])('finds them when it waits for it (look-ahead: %s)', async (lookAhead) => {
    const engine = await startEngine(lookAhead);
    for (let round = 0; round < 5; round += 1) {
      const flushed = await atEnd(engine, () =>
        engine.pagesReleased().then(() => engine.flushPrefixCache()),
      );
      expect(flushed).toBe(fullPages);
      expect(engine.flushPrefixCache()).toBe(0);
    }
  });

  it('waits for one step, not for the others to end', async () => {
    const engine = await startEngine();
    const events: GenerationEvent['type'][] = [];
    let begun: () => void = () => undefined;
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const other = engine.submit([7, 7, 7], { maxTokens: 4000 }, ({ type }) => {
      events.push(type);
      begun();
    });
    await hasBegun;
    const [flushed, steps] = await atEnd(engine, async () => {
      const before = engine.stats().steps;
      await engine.pagesReleased();
      return [engine.flushPrefixCache(), engine.stats().steps - before] as const;
    });
    expect(events).not.toContain('finish');
    expect(flushed).toBe(fullPages);
    expect(steps).toBeLessThanOrEqual(2);
    other.abort();
  });
});

describe('pagesReleased', () => {
  it('resolves where nothing runs, and when the engine closes meanwhile', async () => {
    const engine = await startEngine();
    await engine.pagesReleased();
    engine.submit(prompt, { maxTokens: 100 }, () => undefined);
    const released = engine.pagesReleased();
    await engine.close();
    await released;
    await engine.pagesReleased();
    expect(engine.stats().running).toBe(0);
  });
});
