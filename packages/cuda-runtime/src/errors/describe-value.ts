/** A received value for the text of an error; never throws, whatever the value is. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'object':
      return value === null ? 'null' : describeObject(value);
    case 'function':
      return 'a function';
    case 'bigint':
      return `${value}n`;
    default:
      return String(value);
  }
}

function describeObject(value: object): string {
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`;
    const name: unknown = value.constructor?.name;
    if (typeof name !== 'string' || name === '') return 'an object';
    return ours.get(name.replace(/^_/, '')) ?? `an object (${name})`;
  } catch {
    // A getter or a proxy of the user's threw.
    return 'an object';
  }
}

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
