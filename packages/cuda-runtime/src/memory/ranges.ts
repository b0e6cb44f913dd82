import type { Device, DeviceBuffer, Memory, Tensor } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeValue } from '../errors/describe-value.js';
import { type Place, placeOf } from './place.js';

/** What a copy moves, checked. */
export interface CopyRange {
  readonly to: Place;
  readonly from: Place;
  readonly bytes: number;
}

/** What a fill sets, checked. */
export interface FillRange {
  readonly to: Place;
  readonly byte: number;
  readonly bytes: number;
}

/**
 * A copy of `bytes`, without them of all: then both sides must be equally large.
 * @throws ArgumentError
 */
export function copyRange(
  api: string,
  device: Device,
  destination: Memory,
  source: Memory,
  bytes: number | undefined,
): CopyRange {
  const to = placeOf(api, 'destination', destination, device);
  const from = placeOf(api, 'source', source, device);
  if (bytes === undefined && to.bytes !== from.bytes) {
    const detail = `\`source\` has ${from.bytes} bytes, \`destination\` ${to.bytes}`;
    throw new ArgumentError({ api, detail, hint: 'Make them equal, or pass `bytes`' });
  }
  const count = bytes === undefined ? to.bytes : bytes;
  checkCount(api, count, Math.min(to.bytes, from.bytes));
  return { to, from, bytes: count };
}

/** A fill of `bytes`, without them of all. @throws ArgumentError */
export function fillRange(
  api: string,
  device: Device,
  destination: Tensor | DeviceBuffer,
  byte: number,
  bytes: number | undefined,
): FillRange {
  if (!Number.isInteger(byte) || byte < 0 || byte > 255) {
    const detail = `\`byte\` is ${describeValue(byte)}, expected 0 … 255`;
    throw new ArgumentError({ api, detail });
  }
  const to = placeOf(api, 'destination', destination, device);
  const count = bytes === undefined ? to.bytes : bytes;
  checkCount(api, count, to.bytes);
  return { to, byte, bytes: count };
}

function checkCount(api: string, count: number, most: number): void {
  if (Number.isSafeInteger(count) && count >= 0 && count <= most) return;
  const detail = `\`bytes\` is ${describeValue(count)}, expected 0 … ${most}`;
  throw new ArgumentError({ api, detail });
}
