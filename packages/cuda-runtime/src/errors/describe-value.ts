import { shorten } from './short-text.js';

/** A received value for the text of an error; never throws, and short whatever the value is. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return shorten(looksLikeAnother.test(value) ? JSON.stringify(value) : value);
    case 'object':
      return value === null ? 'null' : describeObject(value);
    case 'function':
      return isGeneratorFunction(value) ? 'a generator function' : 'a function';
    case 'bigint':
      return shorten(`${value}n`);
    default:
      return shorten(String(value));
  }
}

// Text that without quotes reads as nothing, or as a value that would have been right.
const looksLikeAnother = /^\s|\s$|^$|^[-+]?[.\d]|^(null|undefined|true|false|NaN|-?Infinity)$/;

/** True for `function*` and `async function*`; never throws. */
export function isGeneratorFunction(value: unknown): boolean {
  try {
    return Object.prototype.toString.call(value).endsWith('GeneratorFunction]');
  } catch {
    // A proxy of the user's threw.
    return false;
  }
}

const mostListed = 16;

/** The same for a list, such as a shape: whole, or its beginning and how many there are. */
export function describeList(values: readonly unknown[]): string {
  // `from` and not `map`, which passes over holes.
  const shown = Array.from(values.slice(0, mostListed), describeValue);
  if (values.length > mostListed) shown.push(`… ${values.length} in all`);
  return `[${shown.join(', ')}]`;
}

function describeObject(value: object): string {
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`;
    const name: unknown = value.constructor?.name;
    if (typeof name !== 'string' || name === '') return 'an object';
    return kindOf(value, name) ?? shorten(`an object (${name})`);
  } catch {
    // A getter or a proxy of the user's threw.
    return 'an object';
  }
}

function kindOf(value: object, name: string): string | undefined {
  const own = name.replace(/^_/, '');
  // The platform has a class of this name, too.
  if (own === 'Event') return 'use' in value ? 'an event' : undefined;
  return ours.get(own);
}

/**
 * Whether a value that was refused is by its class what was expected: then it is of another copy of
 * this package, whose classes have the same names.
 *
 * @param expected as in messages, such as `a tensor or a buffer`
 */
export function isOfAnotherCopy(value: unknown, expected: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const [, kind = ''] = /^an? (.*)$/.exec(describeObject(value)) ?? [];
  const wanted = expected.split(/, | or /).map((part) => part.replace(/^an? | of .*$/g, ''));
  return wanted.includes(kind) || (kind === 'device buffer' && wanted.includes('buffer'));
}

/** For what is of another copy: what it is, behind its kind, and what to do. */
export const anotherCopy = {
  what: 'of another copy, or another version, of @altstream/cuda-runtime',
  hint: 'Install it once: `npm ls @altstream/cuda-runtime` shows the copies',
} as const;

// Our classes by what users know them as. Bundlers put `_` before a class that refers to itself.
const ours = new Map([
  ['TensorView', 'a tensor'],
  ['NativeBuffer', 'a device buffer'],
  ['GraphBuffer', 'a device buffer'],
  ['HostBuffer', 'a host buffer'],
  ['NativeRuntime', 'a runtime'],
  ['NativeDevice', 'a device'],
  ['NativeStream', 'a stream'],
  ['NamedStreams', 'a registry of streams'],
  ['NativeGraph', 'a graph'],
  ['NativeGraphExec', 'a graph executable'],
  ['Condition', 'a condition'],
  ['NativeModule', 'a module'],
  ['NativeKernel', 'a kernel'],
  ['HostFunction', 'a host function'],
  ['NativeTrace', 'a trace'],
]);
