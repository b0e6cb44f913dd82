import type { z } from 'zod';
import { ApiError } from '../errors/index.js';
import { notYet } from './sampling-fields.js';

/** Parses a request body; the first problem becomes a 400 that names the field's JSON path. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const message = 'the request body must be a JSON object';
    throw new ApiError({ status: 400, code: 'invalid_value', message });
  }
  refuseNotYet(body as Record<string, unknown>);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw issueError(parsed.error.issues[0]);
}

/** A 400 about one field. */
export function fieldError(param: string, message: string, code = 'invalid_value'): ApiError {
  return new ApiError({ status: 400, code, param, message: `\`${param}\`: ${message}` });
}

function refuseNotYet(body: Record<string, unknown>): void {
  for (const { field, isNeutral } of notYet) {
    if (isNeutral(body[field])) continue;
    const message = 'not supported by this release; leave it out or at its neutral value';
    throw fieldError(field, message, 'unsupported_parameter');
  }
}

function issueError(issue: z.core.$ZodIssue | undefined): ApiError {
  const param = pathOf(issue?.path ?? []);
  if (issue?.code === 'invalid_type' && /received undefined/.test(issue.message)) {
    const message = `missing required parameter: \`${param}\``;
    return new ApiError({ status: 400, code: 'missing_required_parameter', param, message });
  }
  return fieldError(param, issue?.message ?? 'invalid');
}

/** `messages[0].content` from `['messages', 0, 'content']`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
