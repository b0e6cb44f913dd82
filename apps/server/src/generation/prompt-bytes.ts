import type { ByteTable } from '@altstream/minimax-m3-chat';
import { ApiError } from '../errors/index.js';

/** How many bytes of text the context can hold at most. */
export interface ByteRoom {
  readonly contextTokens: number;
  /** Bytes of the longest token. */
  readonly tokenBytes: number;
  readonly mostBytes: number;
}

const longest = new WeakMap<ByteTable, number>();

/** The room of a context of so many tokens: no prompt that fits has more bytes than this. */
export function byteRoomOf(table: ByteTable, contextTokens: number): ByteRoom {
  const tokenBytes = longest.get(table) ?? longestToken(table);
  longest.set(table, tokenBytes);
  return { contextTokens, tokenBytes, mostBytes: contextTokens * tokenBytes };
}

/** Of a token, on average: far more than those of text, code or JSON have. */
const saneTokenBytes = 32;
/** The longest context of a model that is served. */
const mostContextTokens = 2 ** 20;

/**
 * The room of a text that a template made and that need not be a prompt: a few words in a template
 * make hundreds of megabytes, and a context of long tokens would hold them.
 */
export function renderedRoomOf({ contextTokens, mostBytes }: ByteRoom): number {
  return Math.min(mostBytes, saneTokenBytes * Math.min(contextTokens, mostContextTokens));
}

/** Refuses a text that a template made without sense for sizes. */
export function checkRendered(bytes: number, mostBytes: number): void {
  if (bytes <= mostBytes) return;
  const message =
    `the chat template makes ${bytes} bytes of these messages; at most ${mostBytes} are taken from ` +
    'a template of the request, or shown; send fewer or shorter messages';
  throw new ApiError({ status: 400, code: 'invalid_value', param: 'messages', message });
}

/** Refuses a text that cannot fit before anyone spends seconds on its tokens. */
export function checkBytes(
  bytes: number,
  { contextTokens, tokenBytes, mostBytes }: ByteRoom,
  param: 'messages' | 'prompt',
): void {
  if (bytes <= mostBytes) return;
  const message =
    `the prompt has ${bytes} bytes; the context of ${contextTokens} tokens holds ${mostBytes} at most, ` +
    `as no token has more than ${tokenBytes}; shorten the prompt`;
  throw new ApiError({ status: 400, code: 'context_length_exceeded', param, message });
}

function longestToken({ data: { offsets } }: ByteTable): number {
  let most = 1;
  for (let id = 1; id < offsets.length; id += 1) {
    most = Math.max(most, (offsets[id] ?? 0) - (offsets[id - 1] ?? 0));
  }
  return most;
}
