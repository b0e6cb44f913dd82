import type { M3OutputParser } from '@altstream/minimax-m3-chat';
import { Detokenizer, StopMatcher } from '@altstream/minimax-m3-chat';
import type { ServerContext } from '../server-context.js';
import type { WireParameters } from '../worker/messages.js';
import { Choice, type ChoiceStep } from './choice.js';
import { type ChoiceSteps, StepStream } from './step-stream.js';

/** One choice to generate. */
export interface ChoiceRequest {
  readonly prompt: readonly number[];
  readonly parameters: WireParameters;
  readonly stopStrings: readonly string[];
  readonly includeStop: boolean;
  /** Leave special tokens out of the text, but for the markers that the parser needs. */
  readonly skipSpecialTokens: boolean;
  readonly parser: M3OutputParser | undefined;
  /** The request named the function to call. */
  readonly isCallNamed?: boolean;
}

/** Who looks on while choices are generated. */
export interface GenerationWatch {
  /** Aborts when nobody wants the answer any more. */
  readonly signal: AbortSignal;
  /** Sees every step at the moment it comes. */
  readonly watch: (step: ChoiceStep) => void;
}

/**
 * Hands all choices to the engine; rejects, with nothing left behind, if one is not accepted.
 *
 * @returns steps of all choices, as they come; one that fails fails the answer, and the others are
 * given up
 */
export async function generate(
  requests: readonly ChoiceRequest[],
  context: ServerContext,
  { signal, watch }: GenerationWatch,
): Promise<ChoiceSteps> {
  const steps = new StepStream(() => {
    for (const choice of choices) choice.abandon();
  });
  let open = requests.length;
  const onStep = (step: ChoiceStep): void => {
    if (!steps.isEnded) watch(step);
    // Nothing of it is for the client, and a stream begins with what is.
    if (step.prefillTokens === undefined) steps.push(step);
    if (step.finish || step.error) open -= 1;
    if (open === 0 || step.error) steps.end();
  };
  const choices = requests.map((request, index) => makeChoice(request, index, context, onStep));
  const abort = (): void => {
    for (const choice of choices) choice.abandon();
    steps.end();
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
  return steps;
}

function makeChoice(
  request: ChoiceRequest,
  index: number,
  { tokenizer, markerIds, metrics }: ServerContext,
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
    isCallNamed: request.isCallNamed ?? false,
    onStep,
    onLate: () => metrics.countLateEvent('given_up'),
  });
}
