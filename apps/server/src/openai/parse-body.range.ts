import type { z } from 'zod';

/**
 * What is wrong with a value below or above its bounds, in the words of the server's own limits;
 * undefined = the problem is another one.
 */
export function rangeProblem(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
  const bound = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const received = sizeOf(issue.input);
  return received && `received ${received}, expected ${comparison(issue)} ${bound}`;
}

function comparison({ code, inclusive }: z.core.$ZodRawIssue): string {
  if (code === 'too_small') return inclusive ? 'at least' : 'more than';
  return inclusive ? 'at most' : 'less than';
}

function sizeOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return Array.isArray(value) ? `a list of ${value.length}` : undefined;
}
