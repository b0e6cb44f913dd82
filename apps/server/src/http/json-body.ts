import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/index.js';
import { utf8Text } from './request/utf8-text.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An empty body is none, as without a content type. Default false: it is refused. */
    mayBeEmpty?: boolean;
  }
}

/**
 * Bodies are JSON in UTF-8 and nothing else; what is none is answered with the place where it goes
 * wrong.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async (
    { headers, routeOptions }: FastifyRequest,
    body: Buffer,
  ): Promise<unknown> => {
    if (!isPlain(headers['content-encoding'])) throw compressed();
    if (body.length === 0 && routeOptions.config.mayBeEmpty) return undefined;
    return parseJson(body);
  };
  // Not as strings, which would not tell bytes that are none.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse);
}

/** Some proxies leave the header where they took its value away. */
function isPlain(coding = ''): boolean {
  return ['', 'identity'].includes(coding.trim().toLowerCase());
}

function compressed(): ApiError {
  const message = 'a body with a content-encoding is not taken; send it as it is';
  // As RFC 9110 says which codings would do.
  const headers = { 'accept-encoding': 'identity' };
  return new ApiError({ status: 415, code: 'unsupported_media_type', message, headers });
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) {
    const message = 'the body is empty, expected a JSON object';
    throw new ApiError({ status: 400, code: 'empty_body', message });
  }
  // A byte order mark, which some clients write, is no part of the text.
  const text = textOf(body).replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch (cause) {
    const problem = `${messageOf(cause)}${placeOf(text, messageOf(cause))}`;
    const message = `the body is not valid JSON: ${problem}`;
    throw new ApiError({ status: 400, code: 'invalid_json', message, cause });
  }
}

function textOf(body: Buffer): string {
  const read = utf8Text(body);
  if ('text' in read) return read.text;
  const message = `the body is not valid JSON: it is not UTF-8 from byte ${read.wrongAt} on`;
  throw new ApiError({ status: 400, code: 'invalid_json', message });
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
