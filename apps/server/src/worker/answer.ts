import { type FromEngine, toWireError } from './messages.js';

type Answer = Extract<FromEngine, { type: 'answered' | 'unanswered' }>;

/**
 * Answers a question with what is found out, or with the reason why not; its promise never rejects,
 * so that no failure ends the thread or leaves who asked without an answer.
 */
export function makeAnswer(
  post: (answer: Answer) => void,
): (id: number, find: () => unknown) => Promise<void> {
  return async (id, find) => {
    try {
      post({ type: 'answered', id, value: await find() });
    } catch (error) {
      post({ type: 'unanswered', id, error: toWireError(error) });
    }
  };
}
