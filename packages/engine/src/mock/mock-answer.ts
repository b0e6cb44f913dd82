import { ParameterError } from '../errors/index.js';

/** What an answer may depend on. */
export interface MockRequest {
  /** 1 for the first request of an engine, then 2, 3, … */
  readonly id: number;
  readonly prompt: Int32Array;
  /** The answer so far. */
  readonly generated: readonly number[];
}

/** Chooses the next token of an answer. Called again for the same place after a fault. */
export type MockAnswer = (request: MockRequest) => number;

/** Says the prompt again, over and over. */
export const echoPrompt: MockAnswer = ({ prompt, generated }) =>
  prompt[generated.length % prompt.length] ?? 0;

/**
 * Says each script in turn, the first one to the first request.
 *
 * @param scripts token ids, none of them empty
 * @param endId follows a script's last token, such as the stop token of the requests; without one
 *   the script begins anew, and only its request's limits end an answer
 */
export function scriptedAnswers(
  scripts: readonly (readonly number[])[],
  endId?: number,
): MockAnswer {
  if (scripts.length === 0 || scripts.some(({ length }) => length === 0)) {
    const received = JSON.stringify(scripts);
    const expected = 'at least one script, and a token in each';
    throw new ParameterError({ parameter: 'scripts', expected, received });
  }
  return ({ id, generated: { length } }) => {
    const script = scripts[(id - 1) % scripts.length] ?? [];
    const isOver = length >= script.length && endId !== undefined;
    return isOver ? endId : (script[length % script.length] ?? 0);
  };
}
