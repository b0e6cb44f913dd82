import { EventQueue } from '@altstream/engine';
import type { M3OutputParser } from '@altstream/minimax-m3-chat';
import { Detokenizer, StopMatcher } from '@altstream/minimax-m3-chat';
import type { ServerContext } from '../server-context.js';
import type { WireParameters } from '../worker/messages.js';
import { Choice, type ChoiceStep } from './choice.js';

/** One choice to generate. */
export interface ChoiceRequest {
  readonly prompt: readonly number[];
  readonly parameters: WireParameters;
  readonly stopStrings: readonly string[];
  readonly includeStop: boolean;
  /** Leave special tokens out of the text, but for the markers that the parser needs. */
  readonly skipSpecialTokens: boolean;
  readonly parser: M3OutputParser | undefined;
}

/**
 * Hands all choices to the engine; rejects, with nothing left behind, if one is not accepted.
 *
 * @param signal aborts when nobody wants the answer any more
 * @returns steps of all choices, as they come; they end when every choice has, and throw the first error
 */
export async function generate(
  requests: readonly ChoiceRequest[],
  context: ServerContext,
  signal: AbortSignal,
): Promise<AsyncIterable<ChoiceStep>> {
  const queue = new EventQueue<ChoiceStep>();
  let open = requests.length;
  const onStep = (step: ChoiceStep): void => {
    queue.push(step);
    if (step.finish || step.error) open -= 1;
    if (open === 0 || step.error) queue.end();
  };
  const choices = requests.map((request, index) => makeChoice(request, index, context, onStep));
  const abort = (): void => {
    for (const choice of choices) choice.abandon();
    queue.end();
  };
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const submissions = await Promise.allSettled(
    requests.map(async ({ prompt, parameters }, index) => {
      const choice = choices[index];
      if (signal.aborted) return;
      const request = await context.engine.submit(prompt, parameters, (event) =>
        choice?.onEvent(event),
      );
      choice?.attach(() => request.abort());
    }),
  );
  const refused = submissions.find((result) => result.status === 'rejected');
  if (refused) {
    abort();
    throw refused.reason;
  }
  return throwErrors(queue.iterate(abort), abort);
}

function makeChoice(
  request: ChoiceRequest,
  index: number,
  { tokenizer, markerIds }: ServerContext,
  onStep: (step: ChoiceStep) => void,
): Choice {
  return new Choice({
    index,
    promptTokens: request.prompt.length,
    detokenizer: new Detokenizer(tokenizer.bytes, {
      skipSpecialTokens: request.skipSpecialTokens,
      keep: request.parser ? markerIds : [],
    }),
    minTokens: request.parameters.minTokens ?? 0,
    stop: new StopMatcher(request.stopStrings, { include: request.includeStop }),
    parser: request.parser,
    onStep,
  });
}

/** One failed choice fails the response, and the other choices are given up. */
async function* throwErrors(
  steps: AsyncIterable<ChoiceStep>,
  abort: () => void,
): AsyncGenerator<ChoiceStep, void, undefined> {
  for await (const step of steps) {
    if (step.error) {
      abort();
      throw step.error;
    }
    yield step;
  }
}
