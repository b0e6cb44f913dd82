import type { ParamValue } from '../../contract.js';
import type { CommandBlock } from '../../native/command-block.js';
import type { ParamType } from './params-layout.js';

const twoTo32 = 0x1_0000_0000;

/**
 * Writes one scalar at a byte address of the block.
 * @returns false if the value is of another kind or outside the type's range
 */
export function writeScalar(
  block: CommandBlock,
  byte: number,
  type: ParamType,
  given: ParamValue | undefined,
): boolean {
  if (type === 'bool') {
    if (typeof given !== 'boolean') return false;
    block.octets[byte] = Number(given);
    return true;
  }
  const value = typeof given === 'boolean' ? Number(given) : given;
  switch (type) {
    case 'i32':
      if (typeof value !== 'number' || (value | 0) !== value) return false;
      block.words[byte >> 2] = value;
      return true;
    case 'u32':
      if (typeof value !== 'number' || value >>> 0 !== value) return false;
      block.words[byte >> 2] = value;
      return true;
    case 'f32':
      if (typeof value !== 'number' || becomesInfinite(value)) return false;
      block.floats[byte >> 2] = value;
      return true;
    case 'f64':
      if (typeof value !== 'number') return false;
      block.doubles[byte >> 3] = value;
      return true;
    case 'i64':
      return writeLong(block, byte, value, true);
    case 'u64':
      return writeLong(block, byte, value, false);
    case 'buf':
      return false;
  }
}

/** What a field of a type takes, for the text of an error. */
export function scalarText(type: ParamType): string {
  if (type === 'i64' || type === 'u64') return `${articled[type]}, beyond 2^53 as a bigint`;
  return type === 'buf' ? 'memory' : articled[type];
}

const articled = {
  i32: 'an i32',
  u32: 'a u32',
  f32: 'an f32',
  f64: 'an f64',
  i64: 'an i64',
  u64: 'a u64',
  bool: 'a bool',
} as const;

function becomesInfinite(value: number): boolean {
  return !Number.isFinite(Math.fround(value)) && Number.isFinite(value);
}

// Numbers are split by hand: a bigint would be an allocation per launch.
function writeLong(
  block: CommandBlock,
  byte: number,
  value: ParamValue | undefined,
  isSigned: boolean,
): boolean {
  const word = byte >> 2;
  if (typeof value === 'number') {
    if (value >>> 0 === value) {
      block.words[word] = value;
      block.words[word + 1] = 0;
      return true;
    }
    if (!Number.isSafeInteger(value) || (value < 0 && !isSigned)) return false;
    block.words[word] = value;
    block.words[word + 1] = Math.floor(value / twoTo32);
    return true;
  }
  if (typeof value !== 'bigint') return false;
  const wrapped = isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
  if (wrapped !== value) return false;
  block.longs[byte >> 3] = value;
  return true;
}
