import type { Runtime } from './contract.js';
import { DisposedError } from './errors/disposed-error.js';
import type { Race } from './errors/race-error.js';

/** Reads the JSON list of the CPU backend's race checker. */
export function parseRaces(text: string): readonly Race[] {
  const entries = JSON.parse(text) as readonly Partial<Race>[];
  return entries.map((entry) => {
    const { kind = 'conflict', first = '', second = '', buffer = '' } = entry;
    const message =
      entry.message ?? `${first} and ${second} use ${buffer}, and nothing orders them`;
    const { firstStack = '', secondStack = '' } = entry;
    return { kind, first, second, buffer, message, firstStack, secondStack };
  });
}

/**
 * Behind a wait, which may last longer than the runtime: then there is nobody to ask.
 * @throws RaceError
 */
export function checkRacesBehind(runtime: Runtime): void {
  try {
    runtime.checkRaces();
  } catch (error) {
    if (!DisposedError.isInstance(error)) throw error;
  }
}
