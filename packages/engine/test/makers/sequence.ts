import type { GenerationEvent } from '../../src/generation-event.js';
import { type GenerationParameters, settleParameters } from '../../src/generation-parameters.js';
import { Sequence } from '../../src/sequence.js';
import { StopCondition, type TokenBytes } from '../../src/stop-condition.js';

let nextId = 1;

/** A sequence with a prompt of the given length, and the events that it emitted. */
export function makeSequence(given: {
  promptTokens: number;
  maxTokens?: number;
  pageTokens?: number;
  deadlineMs?: number;
  parameters?: GenerationParameters;
  tokenBytes?: TokenBytes;
}): { sequence: Sequence; events: GenerationEvent[] } {
  const events: GenerationEvent[] = [];
  const parameters = settleParameters({ seed: 1, ...given.parameters });
  const maxTokens = given.maxTokens ?? 4;
  const sequence = new Sequence({
    id: nextId++,
    prompt: Int32Array.from({ length: given.promptTokens }, (_, index) => index),
    parameters,
    maxTokens,
    pageTokens: given.pageTokens ?? 4,
    deadlineMs: given.deadlineMs,
    stopCondition: new StopCondition(parameters, maxTokens, given.tokenBytes),
    emit: (event) => events.push(event),
  });
  return { sequence, events };
}
