import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/index.js';

/**
 * Bodies are JSON and nothing else; what is none is answered with the place where it goes wrong.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async (_: FastifyRequest, body: string): Promise<unknown> => parseJson(body);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parse);
}

function parseJson(body: string): unknown {
  if (body === '') {
    const message = 'the body is empty, expected a JSON object';
    throw new ApiError({ status: 400, code: 'empty_body', message });
  }
  const text = body.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch (cause) {
    const problem = `${messageOf(cause)}${placeOf(text, messageOf(cause))}`;
    const message = `the body is not valid JSON: ${problem}`;
    throw new ApiError({ status: 400, code: 'invalid_json', message, cause });
  }
}

/** The engine's message without what is said already. */
function messageOf(error: unknown): string {
  return (error as Error).message
    .replace(/ is not valid JSON$/, '')
    .replace(/ in JSON(?= at )/, '');
}

const longestSearched = 2 ** 16;

/**
 * V8 names the position of some errors only; for the others it is searched, if that costs little.
 */
function placeOf(text: string, message: string): string {
  if (/at position \d/.test(message)) return '';
  if (/^Unexpected end/.test(message)) return ` at position ${text.length}`;
  if (text.length > longestSearched || !isWrong(text)) return '';
  let [good, wrong] = [0, text.length];
  while (wrong - good > 1) {
    const middle = (good + wrong) >> 1;
    if (isWrong(text.slice(0, middle))) wrong = middle;
    else good = middle;
  }
  return ` at position ${wrong - 1}`;
}

/** True if the text has a wrong token, not if it only ends too early. */
function isWrong(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return /^Unexpected token/.test((error as Error).message);
  }
}
