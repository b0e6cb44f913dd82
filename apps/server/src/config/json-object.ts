import { InvalidArgumentError } from 'commander';

/** A flag's value as a JSON object. @throws InvalidArgumentError for any other text */
export function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // The message below says what was expected.
  }
  throw new InvalidArgumentError('Expected a JSON object.');
}
