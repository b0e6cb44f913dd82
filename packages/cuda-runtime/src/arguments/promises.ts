import { ArgumentError } from '../errors/argument-error.js';

/**
 * Whether a body that must be synchronous returned a promise: something with a method `then`. What
 * it rejects with is of no interest any more, since the call fails because of it, and must not end
 * the process.
 */
export function isPromise(result: unknown): boolean {
  const canHave = (typeof result === 'object' && result !== null) || typeof result === 'function';
  if (!canHave || typeof Reflect.get(result, 'then') !== 'function') return false;
  Promise.resolve(result).catch(() => undefined);
  return true;
}

/**
 * `result`, the value of `body`.
 * @throws ArgumentError for a promise; `why` says what it would break
 */
export function refusePromise<T>(api: string, result: T, why: string, hint: string): T {
  if (!isPromise(result)) return result;
  throw new ArgumentError({ api, detail: `\`body\` returned a promise, and ${why}`, hint });
}
