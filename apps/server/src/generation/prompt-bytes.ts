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
