import type { MessagePort } from 'node:worker_threads';
import { buildByteTokenizer, ChatTokenizer, controlTexts } from '@altstream/minimax-m3-chat';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChoiceGrammar, type Grammar, grammarKey } from '../../src/grammar/grammar.js';
import { MatcherHost } from '../../src/worker/grammar/matcher-host.js';
import { RemoteMatchers } from '../../src/worker/grammar/remote-matchers.js';

vi.mock('../../src/worker-url.js', () => ({
  workerUrl: () => new URL('./makers/grammar-worker.mjs', import.meta.url),
}));

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
const rules = (text: string): Grammar => ({ kind: 'ebnf', text: `root ::= ${text}` });
const harmless = rules('"a" "b"');
/** The library aborts at a rule that there is not. */
const deadly = rules('no_such_rule');
const choice = (grammar: Grammar, calls: Grammar): ChoiceGrammar => {
  return { grammar, calls, start: 'answer', marker: 'begins' };
};

describe('the grammar that is blamed for the end of the worker', () => {
  let host: MatcherHost;
  let matchers: RemoteMatchers;
  let blamed: string[];

  beforeEach(() => {
    blamed = [];
    matchers = new RemoteMatchers();
    const options = {
      tokens: tokenizer.bytes.data,
      vocabSize: 600,
      eosTokenIds: [1],
      markers: {
        thinkOpen: undefined,
        thinkClose: undefined,
        namespace: tokenizer.specialId(controlTexts.namespace),
      },
    };
    host = new MatcherHost(() => options, {
      connect: (port: MessagePort, lost) => matchers.attach(port, lost),
      onCostly: (key) => blamed.push(key),
    });
    host.start();
  });
  afterEach(() => host.close());

  it.each([
    ['that of the calls, which is compiled last', choice(harmless, deadly), deadly],
    ['that of the answer', choice(deadly, harmless), deadly],
  ])(
    'is %s',
    async (_, grammar, expected) => {
      const failed = matchers.open(grammar);
      await expect(failed.mask()).rejects.toThrow();
      expect(blamed).toEqual([grammarKey(expected)]);
      const good = matchers.open(choice(harmless, harmless));
      expect(await good.mask()).toBeInstanceOf(Int32Array);
      failed.dispose();
      good.dispose();
    },
    60_000,
  );
});
