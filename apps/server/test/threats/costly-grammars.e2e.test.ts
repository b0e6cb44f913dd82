import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoFolder, demoIsLeftOut, leftOutBecause } from '../makers/demo-model.js';
import { type Serving, startServing } from '../makers/serving.js';
import { waitFor } from '../makers/wait-for.js';

/** Compiles at once; what may follow its fourth word takes the library many seconds to find out. */
const hostile = '((([a-z ]{0,20}){0,20}){0,20}){0,20}';
const said = 'tell me something about different mountains and rivers of the world';

interface Told {
  readonly status: number;
  /** Of each frame the text, or the code of its error. */
  readonly frames: string[];
}

describe.skipIf(demoIsLeftOut)(
  `S6: a grammar that takes too long to follow${leftOutBecause}`,
  () => {
    let server: Serving;
    /** Frames of all streams, in the order in which they came. */
    const order: string[] = [];

    beforeAll(async () => {
      // A mock says its prompt, as far as the grammar lets it.
      const mock = JSON.stringify({ decodeMs: 1, maxPositions: 100_000 });
      const fixed = ['--served-model-name', 'm3', '--max-num-seqs', '8'];
      server = await startServing('--mock-engine', mock, '--model', demoFolder, ...fixed);
    }, 60_000);
    afterAll(() => server?.stop());

    const post = (body: object, signal?: AbortSignal) =>
      fetch(`${server.url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm3', prompt: said, max_tokens: 60_000, ...body }),
        signal: signal ?? null,
      });

    /** Reads a stream to its end, or until it is given up. */
    async function follow(name: string, body: object, signal?: AbortSignal): Promise<Told> {
      const answer = await post({ stream: true, ...body }, signal);
      const frames: string[] = [];
      let rest = '';
      try {
        for await (const bytes of answer.body ?? []) {
          rest += Buffer.from(bytes).toString();
          const lines = rest.split('\n\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            if (!line.startsWith('data: {')) continue;
            const { choices, error } = JSON.parse(line.slice(6));
            frames.push(error ? error.code : (choices?.[0]?.text ?? ''));
            order.push(error ? `${name}:${error.code}` : name);
          }
        }
      } catch (error) {
        if (!signal?.aborted) throw error;
      }
      return { status: answer.status, frames };
    }
    const count = (name: string, from = 0): number =>
      order.slice(from).filter((one) => one === name).length;

    it('ends its own request; others with and without a grammar go on', async () => {
      const leave = new AbortController();
      const plain = follow('plain', {}, leave.signal);
      const bound = follow('bound', { regex: '[b-y]{4000}', ignore_eos: true }, leave.signal);
      await waitFor(() => count('plain') > 5 && count('bound') > 5);

      const guilty = await follow('guilty', { regex: hostile });
      const last = order.lastIndexOf('guilty');
      const end = order.indexOf('guilty:grammar_too_costly');
      expect(guilty.frames.slice(0, -1).join('')).toMatch(/^tell/);
      expect(end).toBeGreaterThan(last);
      // Between its last token and its end the one without a grammar never stopped.
      expect(count('plain', last) - count('plain', end)).toBeGreaterThan(5);

      // The one with a grammar goes on where it was.
      await waitFor(() => count('bound', end) > 50);
      // The same grammar is refused from now on, and costs nobody anything.
      const again = await post({ regex: hostile });
      const { error } = (await again.json()) as { error: { code: string; message: string } };
      expect([again.status, error.code]).toEqual([400, 'invalid_grammar']);
      expect(error.message).toMatch(/^`regex`: what may come next takes too long/);
      leave.abort();
      expect((await bound).frames.join('')).toMatch(/^[b-y]+$/);
      await plain;
    }, 120_000);

    it('is told by its status where nothing was sent before, and costs nobody else an answer', async () => {
      const bound = post({ regex: '[b-y]{400}', max_tokens: 400 });
      for (const more of ['y?', 'z?']) {
        const answer = await post({ regex: `${hostile}${more}` });
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        expect([answer.status, error.code]).toEqual([400, 'grammar_too_costly']);
        expect(error.message).toMatch(/nest fewer repetitions/);
      }
      const { choices } = (await (await bound).json()) as { choices: { text: string }[] };
      expect(choices[0]?.text).toMatch(/^[b-y]{400}$/);
    }, 120_000);
  },
);
