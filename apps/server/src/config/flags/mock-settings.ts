import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { jsonObject } from '../json-object.js';

const milliseconds = z.number().min(0).max(1e9);
const count = z.int().min(1).max(1e9);

const settings = z.strictObject({
  decodeMs: milliseconds.optional(),
  prefillMsPerToken: milliseconds.optional(),
  /**
   * Texts that requests get in turn, special tokens as their text; without them each gets its
   * prompt.
   */
  answers: z.array(z.string().min(1)).min(1).optional(),
  maxPositions: count.optional(),
  pageTokens: count.optional(),
  faults: z
    .array(
      z.strictObject({
        kind: z.enum(['row', 'step', 'out-of-memory', 'device-lost', 'slow']),
        during: z.enum(['decode', 'prefill']).optional(),
        at: count,
        every: count.optional(),
        row: z.int().min(0).optional(),
        ms: milliseconds.optional(),
      }),
    )
    .optional(),
});

/** What `--mock-engine` says; names are those of the engine's `MockEngineOptions`. */
export type MockSettings = z.infer<typeof settings>;

/** The value of `--mock-engine`. @throws InvalidArgumentError that names the field */
export function mockSettings(text: string): MockSettings {
  const { data, error } = settings.safeParse(jsonObject(text));
  if (data) return data;
  const [issue] = error.issues;
  throw new InvalidArgumentError(`${issue?.path.join('.') || 'The object'}: ${issue?.message}.`);
}
