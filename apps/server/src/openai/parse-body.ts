import type { z } from 'zod';
import { ApiError } from '../errors/index.js';
import { rangeProblem } from './parse-body.range.js';
import { findHalfPair } from './parse-body.unicode.js';
import { notYet } from './sampling-fields.js';

const mostDepth = 128;
const mostNodes = 2_000_000;

/**
 * Of a list of a million wrong values zod makes a million problems, which takes seconds and
 * gigabytes; only one is told. The setting is that of `validate`, which does not tell it.
 */
const firstOnly = {
  abortEarly: true,
  error: rangeProblem,
} as z.core.ParseContext<z.core.$ZodIssue>;

/** Parses a request body; the first problem becomes a 400 that names the field's JSON path. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const message = 'the request body must be a JSON object';
    throw new ApiError({ status: 400, code: 'invalid_value', message });
  }
  checkSize(body);
  checkTexts(body);
  refuseNotYet(body as Record<string, unknown>);
  const parsed = schema.safeParse(body, firstOnly);
  if (parsed.success) return parsed.data;
  throw issueError(parsed.error.issues[0]);
}

/** A 400 about one field. */
export function fieldError(param: string, message: string, code = 'invalid_value'): ApiError {
  return new ApiError({ status: 400, code, param, message: `\`${param}\`: ${message}` });
}

/** Refuses a least number of tokens above the most. */
export function checkMinTokens(
  { min_tokens: least }: { readonly min_tokens?: number | null | undefined },
  most: number | null | undefined,
): void {
  if (least == null || most == null || least <= Math.max(1, most)) return;
  throw fieldError('min_tokens', `${least} is more than the ${most} that max_tokens allows`);
}

/** Deep or huge values would cost every later stage dearly; no honest request has them. */
function checkSize(body: object): void {
  const rest: { value: object; depth: number }[] = [{ value: body, depth: 1 }];
  let nodes = 0;
  for (let next = rest.pop(); next; next = rest.pop()) {
    checkKeys(next.value);
    const children = Object.values(next.value);
    nodes += children.length;
    if (next.depth > mostDepth || nodes > mostNodes) {
      const message = `the body has more than ${mostDepth} levels or ${mostNodes} values`;
      throw new ApiError({ status: 400, code: 'invalid_value', message });
    }
    for (const value of children) {
      if (typeof value === 'object' && value !== null) rest.push({ value, depth: next.depth + 1 });
    }
  }
}

/** Prompts and all else would silently say something else than the client. */
function checkTexts(body: object): void {
  const half = findHalfPair(body);
  if (!half) return;
  // What names it in an answer must be a text itself.
  const param = pathOf(half.path).replaceAll(/\p{Cs}/gu, '\uFFFD');
  const where = half.isName ? 'its name has' : 'it has';
  const problem = `${where} half of a surrogate pair at position ${half.position}, which is no character`;
  throw fieldError(param, `${problem}; send both halves, or leave it out`);
}

/** Keys that only an attack on JavaScript's prototypes has. */
function checkKeys(value: object): void {
  const { constructor: made } = Object.hasOwn(value, 'constructor') ? value : { constructor: null };
  const isConstructor =
    typeof made === 'object' && made !== null && Object.hasOwn(made, 'prototype');
  if (!isConstructor && !Object.hasOwn(value, '__proto__')) return;
  const key = isConstructor ? 'constructor.prototype' : '__proto__';
  const message = `the key ${key} is not allowed`;
  throw new ApiError({ status: 400, code: 'invalid_value', message });
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
  const isType = issue?.code === 'invalid_type' || issue?.code === 'invalid_union';
  if (isType && /received undefined/.test(issue.message)) {
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
