import { buildByteTokenizer, ChatTokenizer, controlTexts } from '@altstream/minimax-m3-chat';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Grammar } from '../../src/grammar/grammar.js';
import { GrammarClient, type GrammarVerdict } from '../../src/worker/grammar/grammar-client.js';

vi.mock('../../src/worker-url.js', () => ({
  workerUrl: () => new URL('./makers/grammar-worker.mjs', import.meta.url),
}));

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
const mebibyte = 2 ** 20;

/** Compiles at once, and takes some MiB; no two are equal. */
function large(number: number, parts: number): Grammar {
  const part = (at: number): string => `([a-z] "${number}" [${at}-9]){1,4096}`;
  const text = Array.from({ length: parts }, (_, at) => part(at)).join(' ');
  return { kind: 'ebnf', text: `root ::= ${text}` };
}

describe('S6: the wasm memory of a grammar worker', () => {
  let client: GrammarClient;
  /** How many were started; one of them matches outputs. */
  let workers = 0;
  afterEach(() => client.close());

  const start = (mostWasmBytes: number): void => {
    workers = 0;
    const options = {
      mostWasmBytes,
      tokens: tokenizer.bytes.data,
      vocabSize: 600,
      eosTokenIds: [1],
      markers: {
        thinkOpen: tokenizer.specialId(controlTexts.thinkOpen),
        thinkClose: tokenizer.specialId(controlTexts.thinkClose),
        namespace: tokenizer.specialId(controlTexts.namespace),
      },
    };
    client = new GrammarClient(
      () => {
        workers += 1;
        return options;
      },
      (port) => port.close(),
      () => undefined,
    );
  };

  it('refuses the grammar that needs more of it than there may be, and goes on', async () => {
    // The library has 16.2 MiB from the start, of which some are free, and asks for three more at
    // once.
    start(17 * mebibyte);
    let verdict: GrammarVerdict;
    for (let number = 0; number < 40 && !verdict; number += 1) {
      verdict = await client.compile(large(number, 4));
    }
    expect(verdict).toEqual({ refusal: 'it needs more than 17 MiB' });
    expect(workers).toBe(3);
    expect(await client.compile({ kind: 'ebnf', text: 'root ::= "a"' })).toBeUndefined();
  }, 120_000);

  it('is emptied when many grammars have filled it, and refuses none of them', async () => {
    start(20 * mebibyte);
    for (let number = 0; number < 24; number += 1) {
      expect([number, await client.compile(large(number, 4))]).toEqual([number, undefined]);
    }
    expect(workers).toBeGreaterThan(2);
  }, 120_000);
});
