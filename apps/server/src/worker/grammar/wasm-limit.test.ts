import { afterEach, expect, it } from 'vitest';
import { WasmLimit } from './wasm-limit.js';

interface Memory {
  readonly buffer: { readonly byteLength: number };
  grow(pages: number): number;
}

const page = 65_536;
const makeMemory = (initial: number): Memory => {
  const { Memory } = (
    globalThis as unknown as { WebAssembly: { Memory: new (of: object) => Memory } }
  ).WebAssembly;
  return new Memory({ initial });
};
let limit: WasmLimit;
afterEach(() => limit.lift());

it('S6: wasm memory grows up to the limit, and what asks for more is told so', () => {
  limit = new WasmLimit(10 * page);
  const memory = makeMemory(2);
  expect([memory.grow(8), limit.isReached]).toEqual([2, false]);
  expect(() => memory.grow(1)).toThrow(/at its limit/);
  expect([memory.buffer.byteLength / page, limit.isReached]).toEqual([10, true]);
  limit.lift();
  expect(memory.grow(1)).toBe(10);
});

it('who asks for less behind a refusal has not reached it', () => {
  limit = new WasmLimit(10 * page);
  const memory = makeMemory(2);
  expect(() => memory.grow(9)).toThrow(/at its limit/);
  memory.grow(8);
  expect(limit.isReached).toBe(false);
});

it('work is not to blame where others took more than half of the room before it', () => {
  limit = new WasmLimit(22 * page);
  const memory = makeMemory(2);
  limit.settle();
  limit.begin();
  expect(() => memory.grow(21)).toThrow(/at its limit/);
  expect(limit.wasFull).toBe(false);
  memory.grow(11);
  limit.begin();
  expect(() => memory.grow(12)).toThrow(/at its limit/);
  expect(limit.wasFull).toBe(true);
});
