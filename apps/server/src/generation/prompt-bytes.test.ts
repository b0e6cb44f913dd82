import { ByteTable } from '@altstream/minimax-m3-chat';
import { describe, expect, it } from 'vitest';
import { byteRoomOf, checkBytes, checkRendered, renderedRoomOf } from './prompt-bytes.js';

const table = new ByteTable({
  bytes: new Uint8Array(6),
  offsets: Uint32Array.of(0, 1, 5, 6),
  special: new Uint8Array(3),
});

describe('the bytes that a context can hold', () => {
  it('are its tokens times the longest one', () => {
    expect(byteRoomOf(table, 10)).toEqual({ contextTokens: 10, tokenBytes: 4, mostBytes: 40 });
    expect(byteRoomOf(table, 20).mostBytes).toBe(80);
  });

  it('are fewer for what a template makes, where tokens are long', () => {
    const room = (contextTokens: number, tokenBytes: number) => {
      return { contextTokens, tokenBytes, mostBytes: contextTokens * tokenBytes };
    };
    expect(renderedRoomOf(room(1000, 16))).toBe(16_000);
    expect(renderedRoomOf(room(1000, 256))).toBe(32_000);
    expect(renderedRoomOf(room(Number.POSITIVE_INFINITY, 256))).toBe(2 ** 25);
    checkRendered(32_000, 32_000);
    expect(() => checkRendered(32_001, 32_000)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(/32001 .* 32000 /) }),
    );
  });

  it('pass at the limit and are refused above it, with all numbers', () => {
    const room = byteRoomOf(table, 10);
    checkBytes(40, room, 'prompt');
    expect(() => checkBytes(41, room, 'messages')).toThrow(
      expect.objectContaining({
        status: 400,
        code: 'context_length_exceeded',
        param: 'messages',
        message: expect.stringMatching(/has 41 bytes; the context of 10 tokens holds 40.*than 4;/),
      }),
    );
  });
});
