/** Reads fields of a parsed `config.json` one by one, each with its own clear error. */

import { ModelConfigError } from '../errors/index.js';

/** One JSON object of a config. Several names of a field are spellings that must agree. */
export class ConfigFields {
  readonly #json: Readonly<Record<string, unknown>>;
  readonly #path: string;

  /** @param path where the object lies in `config.json`, for messages; empty at the top */
  constructor(json: unknown, path = '') {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      const what = path === '' ? 'config.json' : `config.json: \`${path}\``;
      throw new ModelConfigError(
        'MODEL_CONFIG_TYPE',
        `${what} is ${show(json)}, expected an object`,
        { facts: { field: path, expected: 'object', received: json } },
      );
    }
    this.#json = json as Record<string, unknown>;
    this.#path = path;
  }

  /** True when the field is there and not null. */
  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  /** The value as parsed; undefined when absent or null. */
  raw(name: string): unknown {
    return Object.hasOwn(this.#json, name) ? (this.#json[name] ?? undefined) : undefined;
  }

  /** The field's name from the top of the file. */
  where(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  /** A nested object; undefined when absent. */
  object(name: string): ConfigFields | undefined {
    return this.has(name) ? new ConfigFields(this.raw(name), this.where(name)) : undefined;
  }

  /** A whole number from `minimum` to `maximum`; undefined when absent. */
  optionalInteger(name: string, minimum = 1, maximum = 2 ** 31 - 1): number | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') throw this.wrongType(name, 'a whole number');
    if (!Number.isInteger(value) || value < minimum || value > maximum) {
      throw this.outOfRange(name, `a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  }

  /** A whole number that must be there. */
  integer(name: string, minimum = 1, maximum?: number): number {
    return this.optionalInteger(name, minimum, maximum) ?? this.#missing(name);
  }

  /** A finite number above zero; undefined when absent. */
  optionalPositive(name: string): number | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') throw this.wrongType(name, 'a number');
    if (!Number.isFinite(value) || value <= 0) throw this.outOfRange(name, 'a number above 0');
    return value;
  }

  /** A finite number above zero that must be there. */
  positive(name: string): number {
    return this.optionalPositive(name) ?? this.#missing(name);
  }

  /** True or false; undefined when absent. */
  optionalBoolean(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrongType(name, 'true or false');
  }

  /** A text; undefined when absent. */
  optionalText(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.wrongType(name, 'a text');
  }

  /** One entry a layer, each accepted by `parse`; undefined when absent. */
  optionalPerLayer<T>(
    name: string,
    layers: number,
    expected: string,
    parse: (entry: unknown) => T | undefined,
  ): T[] | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.wrongType(name, `a list of ${expected}`);
    if (value.length !== layers) {
      throw this.outOfRange(
        name,
        `${layers} entries, one for each layer`,
        `${value.length} entries`,
      );
    }
    return value.map((entry: unknown, layer) => {
      const parsed = parse(entry);
      if (parsed === undefined) throw this.outOfRange(`${name}[${layer}]`, expected, show(entry));
      return parsed;
    });
  }

  /** Throws unless the field is absent or has one of the given values. */
  expectOneOf(name: string, allowed: readonly unknown[], reason: string): void {
    const value = this.raw(name);
    if (value === undefined || allowed.includes(value)) return;
    const field = this.where(name);
    const expected = allowed.length === 0 ? 'leaving it out' : allowed.map(show).join(' or ');
    throw new ModelConfigError(
      'MODEL_CONFIG_UNSUPPORTED',
      `config.json: \`${field}\` is ${show(value)}, only ${expected} is supported: ${reason}`,
      { facts: { field, expected: allowed, received: value } },
    );
  }

  /** An error about a value of the wrong kind. */
  wrongType(name: string, expected: string): ModelConfigError {
    const field = this.where(name);
    const received = this.raw(name);
    return new ModelConfigError(
      'MODEL_CONFIG_TYPE',
      `config.json: \`${field}\` is ${show(received)}, expected ${expected}`,
      { facts: { field, expected, received } },
    );
  }

  /** An error about a value of the right kind that cannot be. */
  outOfRange(name: string, expected: string, received = show(this.raw(name))): ModelConfigError {
    const field = this.where(name);
    return new ModelConfigError(
      'MODEL_CONFIG_RANGE',
      `config.json: \`${field}\` is ${received}, expected ${expected}`,
      { facts: { field, expected, received } },
    );
  }

  #missing(name: string): never {
    const field = this.where(name);
    throw new ModelConfigError(
      'MODEL_CONFIG_MISSING',
      `config.json: \`${field}\` is missing and has no safe default`,
      { facts: { field } },
    );
  }
}

/** The one value that several spellings of a fact give; undefined when none is there. */
export function agreed<T>(values: Readonly<Record<string, T | undefined>>): T | undefined {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const [first] = given;
  if (!first) return undefined;
  for (const [field, value] of given) {
    if (show(value) === show(first[1])) continue;
    throw new ModelConfigError(
      'MODEL_CONFIG_CONFLICT',
      `config.json: \`${first[0]}\` gives ${show(first[1])}, but \`${field}\` gives ${show(value)}; ` +
        'they say the same thing and must agree',
      { facts: { fields: [first[0], field], received: [first[1], value] } },
    );
  }
  return first[1];
}

/** The value, or an error that names every spelling under which it was looked for. */
export function required<T>(value: T | undefined, spellings: readonly string[]): T {
  if (value !== undefined) return value;
  throw new ModelConfigError(
    'MODEL_CONFIG_MISSING',
    `config.json: ${spellings.map((name) => `\`${name}\``).join(' or ')} is missing and has no safe default`,
    { facts: { fields: spellings } },
  );
}

/** A value as a message shows it, cut when long. */
export function show(value: unknown): string {
  const text = value === undefined ? 'absent' : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
