import { DisposedError } from './errors/disposed-error.js';
import { type Race, RaceError } from './errors/race-error.js';

/** A runtime whose checkers may have found something. */
export interface Checked {
  /** Whether there is a checker to ask. */
  readonly checksRaces: boolean;
  /** @throws RaceError that names `api`, if one found any since somebody asked last */
  checkRacesIn(api: string): void;
}

const hints: Readonly<Record<string, string>> & { readonly race: string } = {
  race: 'Order them with `waitStream`, or give each branch memory of its own',
  'not-allocated':
    'Use memory of a graph behind its allocation and before its free, in the order of streams and nodes',
  'red-zone':
    'Look for a kernel or host function with a count, size or offset that reaches past its memory',
};

/** @throws RaceError for the JSON list of what the checkers found, unless it is empty */
export function throwRaces(api: string, text: string): void {
  const races = parseRaces(text);
  const [first] = races;
  if (!first) return;
  const more = races.length > 1 ? ` (and ${races.length - 1} more)` : '';
  throw new RaceError({
    api,
    backend: 'cpu',
    detail: `${first.message}${more}`,
    hint: hints[first.kind] ?? hints.race,
    races,
  });
}

/**
 * Behind a wait, which may last longer than the runtime: then there is nobody to ask.
 * @param api the wait, which the error names
 * @throws RaceError
 */
export function checkRacesBehind(runtime: Checked, api: string): void {
  if (!runtime.checksRaces) return;
  try {
    runtime.checkRacesIn(api);
  } catch (error) {
    if (!DisposedError.isInstance(error)) throw error;
  }
}

function parseRaces(text: string): readonly Race[] {
  const entries = JSON.parse(text) as readonly Partial<Race>[];
  return entries.map((entry) => {
    const { kind = 'conflict', first = '', second = '', buffer = '' } = entry;
    const message =
      entry.message ?? `${first} and ${second} use ${buffer}, and nothing orders them`;
    const { firstStack = '', secondStack = '' } = entry;
    return { kind, first, second, buffer, message, firstStack, secondStack };
  });
}
