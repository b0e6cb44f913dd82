import { ArgumentError } from '../errors/argument-error.js';
import { shorten } from '../errors/short-text.js';
import { wrongKind } from './faults.js';

/** The names that an option object may have, all of them: the compiler asks for each. */
export type OptionNames<Options extends object> = Readonly<Record<keyof Options, true>>;

/**
 * Every option object of the public API passes here, so that a misspelt name is never a default
 * that nobody asked for.
 *
 * @param argument how the call names the object; `options` for the last argument of a call
 * @throws ArgumentError unless `value` is an object, and for a name that is not in `known`
 */
export function checkOptions<Options extends object>(
  api: string,
  argument: string,
  value: Options,
  known: OptionNames<Options>,
): void {
  checkObject(api, argument, value);
  checkNames(api, argument, value, known);
}

/** The names alone, of what is known to be an object. Builds no text unless it throws. */
export function checkNames<Options extends object>(
  api: string,
  argument: string,
  value: Options,
  known: OptionNames<Options>,
): void {
  for (const name in value) {
    // Three times as fast as `Object.hasOwn`; what every object inherits is not `true`.
    if (known[name] !== true) throw unknownName(api, argument, name, Object.keys(known));
  }
}

/** @throws ArgumentError unless `value` is an object that is no array */
export function checkObject(
  api: string,
  argument: string,
  value: unknown,
  expected = 'an object of options',
): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw wrongKind(api, argument, value, expected);
}

const signalOnly: OptionNames<{ signal?: unknown }> = { signal: true };

/** Options that are a signal at most. @throws ArgumentError */
export function checkSignalOnly(api: string, options: { readonly signal?: unknown }): void {
  checkOptions(api, 'options', options, signalOnly);
  checkSignal(api, options.signal);
}

/** Before anything is registered. @throws ArgumentError unless the signal is one or left out */
export function checkSignal(api: string, signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw wrongKind(api, 'signal', signal, 'an AbortSignal');
}

function unknownName(
  api: string,
  argument: string,
  name: string,
  known: readonly string[],
): ArgumentError {
  const where = argument === 'options' ? '' : `${argument}.`;
  const nearest = name.length > mostLetters ? undefined : nearestOf(name, known);
  return new ArgumentError({
    api,
    detail: `\`${where}${shorten(name)}\` is not an option, expected ${known.join(', ')}`,
    hint: nearest === undefined ? 'Leave it out' : `Write \`${where}${nearest}\`, or leave it out`,
  });
}

const mostLetters = 64;

// The known name that begins so, or has the fewest changes; none when over half of the letters
// change.
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const word = name.toLowerCase();
  const ranked = known.map((candidate) => {
    const other = candidate.toLowerCase();
    const isStart = word.length > 1 && other.startsWith(word);
    return { candidate, changes: isStart ? 0 : changesBetween(word, other) };
  });
  const [best] = ranked.toSorted((a, b) => a.changes - b.changes);
  return best && best.changes <= word.length / 2 ? best.candidate : undefined;
}

/** Letters to insert, remove or replace to get from one word to the other (Levenshtein). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...to].entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
