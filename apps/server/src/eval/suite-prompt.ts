import { z } from 'zod';

const value = z.string().min(1);

/** What an answer must be; `check-answer.ts` says what each type means. */
const check = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('equals'),
    value: value.refine((text) => text === text.trim(), 'answers are trimmed: spaces never match'),
  }),
  z.strictObject({ type: z.literal('contains'), value }),
  z.strictObject({
    type: z.literal('regex'),
    value: value.refine(isRegex, 'not a regular expression of JavaScript (flag u)'),
  }),
  z.strictObject({
    type: z.literal('tool_call'),
    name: value,
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ type: z.literal('refusal'), value: value.optional() }),
]);

/** One line of a suite. */
export const suitePrompt = z.strictObject({
  id: value,
  skill: value,
  thinking: z.enum(['enabled', 'disabled', 'adaptive']),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: value }) }))
    .optional(),
  max_tokens: z.int().min(1),
  check,
});

/** A prompt of a suite, and what its answer must be. */
export type SuitePrompt = z.infer<typeof suitePrompt>;

/** What the answer to a prompt must be. */
export type AnswerCheck = SuitePrompt['check'];

function isRegex(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
