import type { ChatAnswer } from '../client/chat-answer.js';
import { counted } from '../client/counted.js';
import type { PromptResult, SuiteRun } from './run-suite.js';
import { type SkillRow, skillRows, totalRow } from './skill-rows.js';

/** What was run, for the report's head. */
export interface EvalSubject {
  readonly suite: string;
  readonly server: string;
  readonly model: string;
  readonly concurrency: number;
  /** Prompts of the suite, asked or not. */
  readonly prompts: number;
}

/** What `--json` writes: the table and every answer. */
export interface EvalReport extends EvalSubject {
  /** ISO 8601. */
  readonly date: string;
  readonly durationMs: number;
  readonly ended: 'complete' | 'stopped' | 'gave-up';
  readonly skills: readonly SkillRow[];
  readonly total: SkillRow;
  /** Ids of prompts whose streamed answer was another one. */
  readonly streamDiffers: readonly string[];
  readonly results: readonly Record<string, unknown>[];
}

/** Puts everything that a run found into one object. */
export function evalReport(subject: EvalSubject, run: SuiteRun): EvalReport {
  const { results, durationMs, ended = 'complete' } = run;
  return {
    ...subject,
    date: new Date().toISOString(),
    durationMs,
    ended,
    skills: skillRows(results),
    total: totalRow(results),
    streamDiffers: results
      .filter(({ streamAgrees }) => streamAgrees === false)
      .map(({ prompt }) => prompt.id),
    results: results.map(plainResult),
  };
}

function plainResult({ prompt, isRight, reason, whole, streamed }: PromptResult) {
  return {
    id: prompt.id,
    skill: prompt.skill,
    right: isRight,
    ...(reason === undefined ? {} : { reason }),
    ...(whole ? { answer: plainAnswer(whole) } : {}),
    ...(streamed ? { streamed: plainAnswer(streamed) } : {}),
  };
}

function plainAnswer({ toolCalls, ...answer }: ChatAnswer): Record<string, unknown> {
  const calls = toolCalls.map(({ name, arguments: text }) => ({ name, arguments: text }));
  return { ...answer, toolCalls: calls };
}

const mostWrongShown = 10;

/**
 * The table, the first wrong answers (those that are missing first), and what else one must know.
 */
export function evalText({ report, run }: { report: EvalReport; run: SuiteRun }): string {
  const { server, model, total, skills, streamDiffers, durationMs, concurrency } = report;
  const wrong = run.results
    .filter(({ isRight }) => !isRight)
    .sort((one, other) => Number(Boolean(other.failure)) - Number(Boolean(one.failure)));
  const both = run.results.filter(({ streamed }) => streamed).length;
  const seconds = (durationMs / 1000).toFixed(1);
  return [
    `${report.suite} · ${model} at ${server} · ${concurrency} at once`,
    '',
    ...table(skills.length === 1 ? skills : [...skills, total]),
    '',
    `${counted(total.prompts, 'prompt')} in ${seconds} s; ${both} of them also streamed, ${streamSentence(streamDiffers)}`,
    ...(total.failed > 0
      ? [`${counted(total.failed, 'prompt')} had no answer, which makes the exit code 1`]
      : []),
    ...wrongLines(wrong),
    ...endLine(report),
    '',
  ].join('\n');
}

const columns: readonly { readonly title: string; readonly cell: (row: SkillRow) => string }[] = [
  { title: 'skill', cell: ({ skill }) => skill },
  { title: 'prompts', cell: ({ prompts }) => String(prompts) },
  { title: 'right', cell: ({ right }) => String(right) },
  { title: 'accuracy', cell: ({ accuracy }) => `${(100 * accuracy).toFixed(1)} %` },
  { title: 'mean tokens', cell: ({ meanTokens }) => meanTokens?.toFixed(1) ?? '–' },
  { title: 'tokens/s', cell: ({ tokensPerSecond }) => tokensPerSecond?.toFixed(1) ?? '–' },
];

function table(rows: readonly SkillRow[]): string[] {
  const cells = [columns.map(({ title }) => title), ...rows.map(cellsOf)];
  const widths = columns.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}

function cellsOf(row: SkillRow): string[] {
  return columns.map(({ cell }) => cell(row));
}

function streamSentence(differing: readonly string[]): string {
  if (differing.length === 0) return 'with the same answers';
  const ids = differing.slice(0, mostWrongShown).join(', ');
  return `${differing.length} with another answer: ${ids}${differing.length > mostWrongShown ? ', …' : ''}`;
}

function wrongLines(wrong: readonly PromptResult[]): string[] {
  if (wrong.length === 0) return [];
  const shown = wrong.slice(0, mostWrongShown);
  const rest = wrong.length - shown.length;
  return [
    '',
    'wrong:',
    ...shown.map(({ prompt, reason }) => `  ${prompt.id}: ${reason ?? ''}`),
    ...(rest > 0 ? [`  … and ${rest} more; --json FILE writes them all`] : []),
  ];
}

function endLine({ ended, total, prompts }: EvalReport): string[] {
  if (ended === 'complete') return [];
  const why =
    ended === 'stopped' ? 'stopped' : 'given up after 5 prompts in a row without an answer';
  return ['', `${why}: ${prompts - total.prompts} of ${prompts} prompts were not asked`];
}
