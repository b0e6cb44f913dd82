import {
  buildByteTokenizer,
  ChatTokenizer,
  Detokenizer,
  M3OutputParser,
  StopMatcher,
} from '@altstream/minimax-m3-chat';
import { describe, expect, it } from 'vitest';
import { Choice, type ChoiceStep } from './choice.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);

class FailingParser extends M3OutputParser {
  override push(): never {
    throw new Error('planted');
  }
}

describe('a choice', () => {
  it('whose answer cannot be read ends with an error and gives its request up', () => {
    const steps: ChoiceStep[] = [];
    let aborts = 0;
    let late = 0;
    const choice = new Choice({
      index: 0,
      promptTokens: 1,
      detokenizer: new Detokenizer(tokenizer.bytes, { skipSpecialTokens: true }),
      stop: new StopMatcher([]),
      minTokens: 0,
      parser: new FailingParser(),
      onStep: (step) => steps.push(step),
      onLate: () => {
        late += 1;
      },
    });
    choice.attach(() => {
      aborts += 1;
    });
    const token = { type: 'token', id: 65, logprob: 0, top: [] } as const;
    choice.onEvent(token);
    choice.onEvent(token);
    const counts = { promptTokens: 1, cachedTokens: 0, generatedTokens: 2 };
    choice.onEvent({ type: 'finish', reason: 'abort', ...counts });
    // Its end is what the engine owes; the second token is too late.
    expect(late).toBe(1);
    expect(steps).toHaveLength(1);
    expect(steps[0]?.error).toMatchObject({ status: 500, code: 'internal_error' });
    expect(steps[0]?.error?.cause).toMatchObject({ message: 'planted' });
    expect(aborts).toBe(1);
  });

  it.each(['at a stop string', 'at the end'])('tells what of its prompt was found, %s', (where) => {
    const steps: ChoiceStep[] = [];
    const choice = new Choice({
      index: 0,
      promptTokens: 9,
      detokenizer: new Detokenizer(tokenizer.bytes, { skipSpecialTokens: true }),
      stop: new StopMatcher(where === 'at the end' ? [] : ['BC']),
      minTokens: 0,
      parser: undefined,
      onStep: (step) => steps.push(step),
    });
    const [first = 0, ...others] = tokenizer.encode('ABC');
    const facts = { logprob: 0, top: [] } as const;
    choice.onEvent({ type: 'token', id: first, ...facts, cachedTokens: 8 });
    for (const id of others) choice.onEvent({ type: 'token', id, ...facts });
    const end = { promptTokens: 9, cachedTokens: 8, generatedTokens: 3 };
    choice.onEvent({ type: 'finish', reason: 'length', ...end });
    const finish = steps.find((step) => step.finish)?.finish;
    expect(finish).toMatchObject({
      reason: where === 'at the end' ? 'length' : 'stop',
      counts: { promptTokens: 9, cachedTokens: 8 },
    });
  });
});
