import { seededRandom } from '@altstream/cuda-runtime/testing';
import type { Engine, GenerationEvent, GenerationParameters } from '../../src/index.js';
import { vocab } from './counting.js';
import { ListMatcher } from './list-matcher.js';

/** A request drawn at random. */
export interface MixedRequest {
  readonly prompt: readonly number[];
  readonly parameters: () => GenerationParameters;
  /** Given up at this token; undefined = never. */
  readonly abortAt: number | undefined;
  /** Turns of the event loop before it is sent. */
  readonly turns: number;
}

/** Requests of every kind: what they share and what they ask for is drawn at random. */
export function drawRequests(seed: number, count: number, hasGrammars: boolean): MixedRequest[] {
  const random = seededRandom(seed);
  const oneIn = (n: number): boolean => random.integer(0, n) === 0;
  const someIds = (n: number): number[] =>
    Array.from({ length: n }, () => random.integer(0, vocab));
  const heads = [0, 9, 14].map(someIds);
  let before: readonly number[] = [1];
  return Array.from({ length: count }, (_, index) => {
    const own = [...(heads[random.integer(0, 3)] ?? []), ...someIds(random.integer(1, 20))];
    // Some are further answers to the prompt before.
    const prompt = oneIn(4) ? before : own;
    before = prompt;
    const lists = Array.from({ length: random.integer(2, 9) }, () => someIds(5));
    const given: GenerationParameters = {
      seed: index,
      temperature: oneIn(3) ? 0 : 0.9,
      topK: random.integer(0, 20),
      maxTokens: random.integer(1, 25),
      ...(oneIn(2) ? { stopTokenIds: someIds(3) } : {}),
      ...(oneIn(4) ? { stopStrings: ['cd', 'g'] } : {}),
      ...(oneIn(4) ? { minTokens: random.integer(1, 8) } : {}),
      ...(oneIn(3) ? { frequencyPenalty: 0.7, repetitionPenalty: 1.3 } : {}),
      ...(oneIn(5) ? { logitBias: new Map([[random.integer(0, vocab), 2]]) } : {}),
      ...(oneIn(3) ? { logprobs: random.integer(0, 4) } : {}),
      ...(oneIn(6) ? { promptLogprobs: 1 } : {}),
      ...(oneIn(8) ? { cacheSalt: 'apart' } : {}),
    };
    const isRuled = hasGrammars && oneIn(6);
    return {
      prompt,
      parameters: () => (isRuled ? { ...given, grammar: new ListMatcher(vocab, lists) } : given),
      abortAt: oneIn(6) ? random.integer(1, 10) : undefined,
      turns: random.integer(0, 60),
    };
  });
}

/** All events of a request, without what depends on when it was admitted. */
export async function answer(engine: Engine, request: MixedRequest): Promise<GenerationEvent[]> {
  for (let turn = 0; turn < request.turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return new Promise((resolve) => {
    const events: GenerationEvent[] = [];
    let tokens = 0;
    const submission = engine.submit(request.prompt, request.parameters(), (event) => {
      if (event.type === 'token') tokens += 1;
      if (tokens === request.abortAt) submission.abort();
      const { cachedTokens: _, ...facts } = { cachedTokens: 0, ...event };
      events.push(facts as GenerationEvent);
      if (event.type === 'finish') resolve(events);
    });
  });
}
