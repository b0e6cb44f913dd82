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
