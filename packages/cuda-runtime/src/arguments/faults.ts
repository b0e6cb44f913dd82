import { ArgumentError } from '../errors/argument-error.js';
import { BackendMismatchError } from '../errors/backend-mismatch-error.js';
import {
  anotherCopy,
  describeValue,
  isGeneratorFunction,
  isOfAnotherCopy,
} from '../errors/describe-value.js';

/** What an error tells of a runtime. */
export interface OwningRuntime {
  readonly backend: string;
}

/** What an error tells of a device. */
interface OwningDevice {
  readonly runtime: OwningRuntime;
  readonly index: number;
}

/** The error for a value of the wrong kind, to throw. */
export function wrongKind(
  api: string,
  argument: string,
  value: unknown,
  expected: string,
): ArgumentError {
  const isOther = isOfAnotherCopy(value, expected);
  const what = `${describeValue(value)}${isOther ? ` ${anotherCopy.what}` : ''}`;
  const detail = `\`${argument}\` is ${what}, expected ${expected}`;
  return new ArgumentError({ api, detail, ...(isOther && { hint: anotherCopy.hint }) });
}

/** The error for a handle of another runtime, to throw. */
export function wrongRuntime(
  api: string,
  argument: string,
  own: OwningRuntime,
): BackendMismatchError {
  return new BackendMismatchError({
    api,
    detail: `\`${argument}\` belongs to another runtime than this ${own.backend} runtime`,
    hint: 'Use memory, streams, events and devices of one runtime',
  });
}

/** The error for a stream that is none, or not of `device`, to throw. */
export function wrongStream(
  api: string,
  stream: unknown,
  actual: OwningDevice | undefined,
  device: OwningDevice,
): Error {
  if (actual === undefined) return wrongKind(api, 'stream', stream, 'a stream of this device');
  if (actual.runtime !== device.runtime) return wrongRuntime(api, 'stream', device.runtime);
  const detail = `\`stream\` is on device ${actual.index}, expected device ${device.index}`;
  return new ArgumentError({ api, detail });
}

/** @throws ArgumentError unless `value` is a function */
export function checkFunction(api: string, argument: string, value: unknown): void {
  if (typeof value !== 'function') throw wrongKind(api, argument, value, 'a function');
}

/**
 * For what is called and not asked for its result.
 * @throws ArgumentError unless `value` is a function whose code runs when it is called
 */
export function checkCallback(api: string, argument: string, value: unknown): void {
  checkFunction(api, argument, value);
  if (isGeneratorFunction(value)) throw wrongKind(api, argument, value, 'a function');
}

/** @throws ArgumentError unless `value` is text */
export function checkText(api: string, argument: string, value: unknown): void {
  if (typeof value !== 'string') throw wrongKind(api, argument, value, 'text');
}

/** @throws ArgumentError unless `value` is true or false */
export function checkFlag(api: string, argument: string, value: unknown): void {
  if (typeof value !== 'boolean') throw wrongKind(api, argument, value, 'true or false');
}
