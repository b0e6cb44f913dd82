import type { PromptResult } from './run-suite.js';

/** A skill's line of the table. */
export interface SkillRow {
  readonly skill: string;
  /** Prompts that were asked. */
  readonly prompts: number;
  readonly right: number;
  /** Prompts without an answer: they are wrong too. */
  readonly failed: number;
  /** right ÷ prompts, 0 to 1. */
  readonly accuracy: number;
  /** Generated tokens of an answer; null when the server counts none. */
  readonly meanTokens: number | null;
  /** Generated tokens ÷ time of their requests, prompt included: what one client sees. */
  readonly tokensPerSecond: number | null;
}

/** One row for each skill, in the order of the suite. */
export function skillRows(results: readonly PromptResult[]): SkillRow[] {
  const skills = new Map<string, PromptResult[]>();
  for (const result of results) {
    const { skill } = result.prompt;
    skills.set(skill, [...(skills.get(skill) ?? []), result]);
  }
  return [...skills].map(([skill, own]) => rowOf(skill, own));
}

/** The row of all prompts together. */
export function totalRow(results: readonly PromptResult[]): SkillRow {
  return rowOf('all', results);
}

function rowOf(skill: string, results: readonly PromptResult[]): SkillRow {
  const right = results.filter(({ isRight }) => isRight).length;
  const counted = results.flatMap(({ whole }) =>
    whole?.completionTokens === undefined
      ? []
      : [{ tokens: whole.completionTokens, seconds: whole.timing.totalMs / 1000 }],
  );
  const tokens = counted.reduce((sum, one) => sum + one.tokens, 0);
  const seconds = counted.reduce((sum, one) => sum + one.seconds, 0);
  return {
    skill,
    prompts: results.length,
    right,
    failed: results.filter(({ failure }) => failure !== undefined).length,
    accuracy: results.length === 0 ? 0 : right / results.length,
    meanTokens: counted.length === 0 ? null : tokens / counted.length,
    tokensPerSecond: seconds > 0 ? tokens / seconds : null,
  };
}
