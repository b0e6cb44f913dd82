import { seededRandom } from '@altstream/cuda-runtime/testing';
import { buildByteTokenizer, ChatTokenizer } from '@altstream/minimax-m3-chat';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Script } from '../makers/scripted-server.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { answers, paths } from './makers/plain-answers.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);

const letters = ['a', 'b', 'é', '🌦'];

/** What comes before the stop that is complete first; of those that end together, the longest. */
function before(text: string, stops: readonly string[]): string {
  for (let end = 1; end <= text.length; end += 1) {
    const ending = stops.filter((stop) => text.slice(0, end).endsWith(stop));
    const longest = Math.max(0, ...ending.map((stop) => stop.length));
    if (longest > 0) return text.slice(0, end - longest);
  }
  return text;
}

describe('stop strings', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  async function ask(script: Script, stop: readonly string[], more: object = {}) {
    server.engine.scripts = [script];
    return answers(server.url, { stop, ...more });
  }

  it('C6: what is held back as a possible stop comes when the answer ends', async () => {
    for (const reason of ['stop', 'length'] as const) {
      for (const { text } of await ask({ text: 'see TRE', reason }, ['TRE\nAAAA'])) {
        expect(text).toBe('see TRE');
      }
    }
  });

  it('C7: no part of a stop is shown that lies over several tokens', async () => {
    const text = 'L M N O P Q R';
    expect(tokenizer.encode(' O P Q').length).toBeGreaterThan(2);
    for (const answer of await ask({ text, reason: 'never' }, [' O P Q'])) {
      expect(answer).toMatchObject({ text: 'L M N', finish: 'stop', stop: ' O P Q' });
    }
  });

  it('C8: with several stops every character comes once (random texts and stops)', async () => {
    for (let seed = 0; seed < 40; seed += 1) {
      const random = seededRandom(seed);
      const draw = (most: number): string =>
        Array.from(
          { length: random.integer(1, most) },
          () => letters[random.integer(0, letters.length)],
        ).join('');
      const text = draw(14);
      const stops = Array.from({ length: random.integer(1, 5) }, () => draw(5));
      for (const answer of await ask({ text }, stops)) {
        expect(answer.text, `${text} until ${stops}`).toBe(before(text, stops));
      }
    }
  });

  it('C9: nothing follows the stop, and usage counts the tokens up to its end', async () => {
    const tokens = tokenizer.encode('one two STOP').length;
    for (const answer of await ask({ text: 'one two STOP three four', reason: 'never' }, [
      'STOP',
    ])) {
      expect(answer).toMatchObject({ text: 'one two ', completionTokens: tokens });
    }
    expect(server.engine.received.at(-1)?.isAborted).toBe(true);
  });

  it.each(paths)('C10: a stop ends every kind of answer: %s', async (path) => {
    server.engine.scripts = [{ text: 'one STOP two', reason: 'never' }];
    for (const n of [1, 3]) {
      const all = await answers(server.url, { stop: 'STOP', n }, [path]);
      expect(all).toHaveLength(2 * n);
      for (const answer of all) {
        expect(answer).toMatchObject({ text: 'one ', finish: 'stop', stop: 'STOP' });
      }
    }
    const [shown] = await answers(server.url, { stop: 'STOP', include_stop_str_in_output: true }, [
      path,
    ]);
    expect(shown?.text).toBe('one STOP');
  });
});
