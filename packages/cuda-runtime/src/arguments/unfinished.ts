import { ArgumentError } from '../errors/argument-error.js';

/**
 * What a body that must be synchronous returned instead of being done: a promise, which is
 * something with a method `then`, or a generator, none of whose code has run. What a promise
 * rejects with is of no interest any more, since the call fails because of it, and must not end the
 * process.
 */
export function unfinished(result: unknown): 'a promise' | 'a generator' | undefined {
  const canHave = (typeof result === 'object' && result !== null) || typeof result === 'function';
  if (!canHave) return undefined;
  if (hasMethod(result, 'then')) {
    Promise.resolve(result).catch(() => undefined);
    return 'a promise';
  }
  return isGenerator(result) ? 'a generator' : undefined;
}

/** Why no generator can be a body, for messages. */
export const notRun = 'none of its code has run';

/**
 * `result`, the value of `body`.
 * @throws ArgumentError for a promise, of which `why` says what it would break, and a generator
 */
export function refuseUnfinished<T>(api: string, result: T, why: string, hint: string): T {
  const what = unfinished(result);
  if (what === undefined) return result;
  const because = what === 'a generator' ? notRun : why;
  throw new ArgumentError({ api, detail: `\`body\` returned ${what}, and ${because}`, hint });
}

// Iterators of arrays and maps are values; only what stands for code can be ended with `return`.
function isGenerator(result: object): boolean {
  const iterates = hasMethod(result, Symbol.iterator) || hasMethod(result, Symbol.asyncIterator);
  return iterates && hasMethod(result, 'next') && hasMethod(result, 'return');
}

function hasMethod(value: object, name: string | symbol): boolean {
  return typeof Reflect.get(value, name) === 'function';
}
