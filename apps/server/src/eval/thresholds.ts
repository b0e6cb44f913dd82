import { ExitError } from '../errors/index.js';
import type { SkillRow } from './skill-rows.js';

/** The least accuracy of one skill, or of all prompts together. */
export interface Threshold {
  /** Absent: all prompts together. */
  readonly skill?: string;
  /** 0 to 1. */
  readonly least: number;
}

/**
 * Reads `0.9` (all prompts together) and `arithmetic=0.95` (one skill).
 *
 * @throws ExitError (usage) for anything else, or a skill that the suite does not have
 */
export function parseThresholds(
  texts: readonly string[],
  skills: ReadonlySet<string>,
): Threshold[] {
  return texts.map((text) => {
    const [, skill, number = ''] = /^(?:(.+)=)?([^=]*)$/s.exec(text) ?? [];
    const least = Number(number);
    if (number.trim() === '' || !(least >= 0 && least <= 1)) {
      const expected = 'expected a number from 0 to 1, or SKILL=NUMBER';
      throw new ExitError('usage', `--min-accuracy is "${text}", ${expected}`);
    }
    if (skill === undefined) return { least };
    if (skills.has(skill)) return { skill, least };
    const problem = `--min-accuracy names the skill "${skill}"`;
    throw new ExitError('usage', `${problem}; the suite has ${[...skills].join(', ')}`);
  });
}

/** One sentence for each threshold that was not reached. */
export function missedThresholds(
  thresholds: readonly Threshold[],
  rows: readonly SkillRow[],
  total: SkillRow,
): string[] {
  return thresholds.flatMap(({ skill, least }) => {
    const row = skill === undefined ? total : rows.find((one) => one.skill === skill);
    const accuracy = row?.accuracy ?? 0;
    if (accuracy >= least) return [];
    const name = skill === undefined ? 'all prompts together' : skill;
    return [`${name}: accuracy ${accuracy.toFixed(3)}, wanted at least ${least}`];
  });
}
