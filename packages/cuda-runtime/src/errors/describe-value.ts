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
    return typeof name === 'string' && name !== '' ? `an object (${name})` : 'an object';
  } catch {
    // A getter or a proxy of the user's threw.
    return 'an object';
  }
}
