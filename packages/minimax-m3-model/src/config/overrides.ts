/** Changes of single fields of a `config.json`, made before it is parsed. */

import { ModelConfigError } from '../errors/index.js';
import { ConfigFields, show } from './config-fields.js';

/**
 * New values by field name, e.g. `{ num_hidden_layers: 8 }`. A path such as `a.b` names one place.
 */
export type ConfigOverrides = Readonly<Record<string, unknown>>;

type Json = Readonly<Record<string, unknown>>;

/** Where a bare name is looked for, the text model first. */
const places = [
  ['text_config'],
  ['text_config', 'sparse_attention_config'],
  ['text_config', 'rope_parameters'],
  [],
  ['sparse_attention_config'],
  ['rope_parameters'],
  ['quantization_config'],
];

/** Fields with one entry a layer; they follow `num_hidden_layers`. */
const perLayerFields = [
  'moe_layer_freq',
  'mlp_layer_types',
  'layer_types',
  'sparse_attention_freq',
  'sparse_disable_index_value',
];

/**
 * Reads overrides of a command line, `field=value` each; the value is JSON, or else text.
 *
 * @throws ModelConfigError `MODEL_CONFIG_OVERRIDE`
 */
export function parseOverrides(texts: readonly string[]): ConfigOverrides {
  const overrides: Record<string, unknown> = {};
  for (const text of texts) {
    const [, name, value] = /^\s*([\w.]+)\s*=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw fault(text, `override \`${text}\`: expected \`field=value\`, as num_hidden_layers=8`);
    }
    if (Object.hasOwn(overrides, name)) throw fault(name, `override \`${name}\` is given twice`);
    overrides[name] = readValue(value.trim());
  }
  return overrides;
}

/**
 * A config with fields replaced. A field must be there already and keep its kind; what value it may
 * have is checked when the config is parsed. With `num_hidden_layers`, lists with one entry a layer
 * are cut, or go on with their last entry.
 *
 * @throws ModelConfigError `MODEL_CONFIG_OVERRIDE`, which names the fields that there are
 */
export function applyOverrides(json: unknown, overrides: ConfigOverrides): unknown {
  const names = Object.keys(overrides);
  if (names.length === 0) return json;
  new ConfigFields(json);
  // A list that is given itself must have the last word.
  const ordered = names.sort((a, b) => Number(isLayers(b)) - Number(isLayers(a)));
  return ordered.reduce((config, name) => override(config, name, overrides[name]), json as Json);
}

function override(config: Json, name: string, value: unknown): Json {
  const path = findField(config, name);
  const before = at(config, path);
  if (kindOf(value) !== kindOf(before)) {
    const expected = `${kindOf(before)}, as the ${show(before)} of the config`;
    throw fault(name, `override \`${name}\` is ${show(value)}, expected ${expected}`);
  }
  const changed = replace(config, path, value);
  return isLayers(name) ? resizeLists(changed, Number(value)) : changed;
}

function findField(config: Json, name: string): readonly string[] {
  const path = name.split('.');
  const candidates = path.length > 1 ? [path] : places.map((place) => [...place, name]);
  const found = candidates.find((candidate) => isValue(at(config, candidate)));
  if (found) return found;
  const fields = [...new Set(places.flatMap((place) => fieldsOf(at(config, place))))].sort();
  throw fault(
    name,
    `override \`${name}\`: the config has no such field; it has ${fields.join(', ')}`,
    { fields },
  );
}

function resizeLists(config: Json, layers: number): Json {
  if (!Number.isInteger(layers) || layers < 1) return config;
  const lists = places.flatMap((place) => perLayerFields.map((name) => [...place, name]));
  return lists.reduce((changed, path) => {
    const list = at(changed, path);
    if (!Array.isArray(list) || list.length === 0) return changed;
    const resized = Array.from({ length: layers }, (_, i) => list[i] ?? list.at(-1));
    return replace(changed, path, resized);
  }, config);
}

function at(json: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && Object.hasOwn(value, key) ? (value as Json)[key] : undefined;
  }, json);
}

function replace(json: Json, [key = '', ...rest]: readonly string[], value: unknown): Json {
  return { ...json, [key]: rest.length === 0 ? value : replace(json[key] as Json, rest, value) };
}

function fieldsOf(json: unknown): readonly string[] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, value]) => (isValue(value) ? [name] : []));
}

/** Objects are not replaced as a whole, and what is absent has no kind to keep. */
function isValue(value: unknown): boolean {
  return (
    value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value))
  );
}

function isLayers(name: string): boolean {
  return name === 'num_hidden_layers' || name.endsWith('.num_hidden_layers');
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'true or false';
  return typeof value === 'string' ? 'a text' : show(value);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function fault(
  field: string,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): ModelConfigError {
  return new ModelConfigError('MODEL_CONFIG_OVERRIDE', message, { facts: { field, ...facts } });
}
