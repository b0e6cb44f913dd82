import { readFileSync } from 'node:fs';
import { ExitError } from '../errors/index.js';
import { type SuitePrompt, suitePrompt } from './suite-prompt.js';

const mostProblems = 10;

/**
 * Reads a suite: one JSON object a line, blank lines left out.
 *
 * @throws ExitError (usage) that names every bad line, up to ten
 */
export function readSuite(path: string): SuitePrompt[] {
  const prompts: SuitePrompt[] = [];
  const problems: string[] = [];
  const lineOf = new Map<string, number>();
  textOf(path)
    .split('\n')
    .forEach((text, index) => {
      if (text.trim() === '') return;
      const line = index + 1;
      const prompt = parseLine(text, (problem) => problems.push(`line ${line}: ${problem}`));
      if (!prompt) return;
      const first = lineOf.get(prompt.id);
      if (first !== undefined)
        problems.push(`line ${line}: id "${prompt.id}" is that of line ${first}`);
      lineOf.set(prompt.id, line);
      prompts.push(prompt);
    });
  if (problems.length > 0) throw badSuite(path, problems);
  if (prompts.length === 0) throw new ExitError('usage', `the suite ${path} holds no prompt`);
  return prompts;
}

/** At most `limit` prompts of each skill, in the order of the suite. */
export function limitSkills(prompts: readonly SuitePrompt[], limit: number): SuitePrompt[] {
  const taken = new Map<string, number>();
  return prompts.filter(({ skill }) => {
    const count = (taken.get(skill) ?? 0) + 1;
    taken.set(skill, count);
    return count <= limit;
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const { message } = cause as Error;
    const remedy = 'pass --suite demo, or the path of a .jsonl file';
    throw new ExitError('usage', `the suite ${path} cannot be read: ${message}; ${remedy}`, {
      cause,
    });
  }
}

function parseLine(text: string, report: (problem: string) => void): SuitePrompt | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    report(`not JSON (${(error as Error).message})`);
    return undefined;
  }
  const { success, data, error } = suitePrompt.safeParse(value);
  if (success) return data;
  const id = (value as { id?: unknown } | null)?.id;
  const name = typeof id === 'string' ? `prompt "${id}": ` : '';
  for (const { path, message } of error.issues) {
    report(`${name}${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`);
  }
  return undefined;
}

function badSuite(path: string, problems: readonly string[]): ExitError {
  const shown = problems.slice(0, mostProblems);
  const rest = problems.length - shown.length;
  const more = rest > 0 ? `\n  … and ${rest} more` : '';
  const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`;
  const list = shown.map((problem) => `\n  ${problem}`).join('');
  const remedy = 'The format is in docs/eval.md.';
  return new ExitError('usage', `the suite ${path} has ${count}:${list}${more}\n${remedy}`);
}
