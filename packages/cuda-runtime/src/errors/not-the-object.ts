import { ArgumentError } from './argument-error.js';

/**
 * The error for a handle whose native part cannot be reached, to throw: reactive state of a user
 * interface puts a proxy around all it holds, and a proxy has no private fields.
 */
export function notTheObject(api: string, what: string): ArgumentError {
  return new ArgumentError({
    api,
    detail: `the ${what} is a proxy or a copy of the one that this package made`,
    hint: 'Pass the object itself; keep handles out of reactive state',
  });
}
