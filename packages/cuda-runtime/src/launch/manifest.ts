import { isDType } from '../dtype.js';
import { KernelImageError } from '../errors/kernel-image-error.js';
import type { KernelAttributes } from './kernel-attributes.js';
import type { ParamField, ParamsLayout } from './params/params-layout.js';

/** One kernel of a manifest, checked. */
export interface ManifestKernel {
  readonly attributes: KernelAttributes;
  readonly params: ParamsLayout;
}

const scalarBytes: Readonly<Record<string, number>> = {
  buf: 8,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  f32: 4,
  f64: 8,
  bool: 1,
};

/**
 * Reads the kernels of a manifest that `cmake/manifest.mjs` wrote.
 * @throws KernelImageError `CRT_PARAMS_LAYOUT` naming kernel and field if it is not of that form
 */
export function parseManifest(text: string, file: string): Map<string, ManifestKernel> {
  const manifest = parseJson(text, file);
  const kernels = new Map<string, ManifestKernel>();
  for (const entry of listOf(manifest['kernels'], file, 'kernels')) {
    const kernel = toKernel(entry, file);
    kernels.set(kernel.attributes.name, kernel);
  }
  return kernels;
}

/** The parameter structs of the host functions in a manifest, by name. @throws KernelImageError */
export function parseHostFunctions(text: string, file: string): Map<string, ParamsLayout> {
  const hosts = new Map<string, ParamsLayout>();
  for (const entry of listOf(parseJson(text, file)['hosts'] ?? [], file, 'hosts')) {
    const host = objectOf(entry, file, 'a host function');
    const name = stringOf(host['name'], file, 'a name of a host function');
    hosts.set(name, toLayout(host, file, name));
  }
  return hosts;
}

type Json = Readonly<Record<string, unknown>>;

function parseJson(text: string, file: string): Json {
  try {
    return objectOf(JSON.parse(text), file, 'the manifest');
  } catch (cause) {
    if (cause instanceof SyntaxError) throw broken(file, 'not JSON', cause);
    throw cause;
  }
}

function toKernel(entry: unknown, file: string): ManifestKernel {
  const kernel = objectOf(entry, file, 'a kernel');
  const name = stringOf(kernel['name'], file, 'a kernel name');
  const block = listOf(kernel['block'] ?? [1024], file, `${name}: block`);
  const pdl = objectOf(kernel['pdl'] ?? {}, file, `${name}: pdl`);
  return {
    attributes: {
      name,
      maxThreadsPerBlock: block.reduce<number>((most, size) => most * Number(size), 1),
      minSm: String(kernel['minSm'] ?? '8.0'),
      pdl: { waits: pdl['waits'] === true, triggers: pdl['triggers'] === true },
    },
    params: toLayout(kernel, file, name),
  };
}

function toLayout(entry: Json, file: string, name: string): ParamsLayout {
  const bytes = numberOf(entry['bytes'], file, `${name}: bytes`);
  const fields = listOf(entry['fields'], file, `${name}: fields`).map((field) =>
    toField(field, file, name, bytes),
  );
  return { struct: stringOf(entry['struct'], file, `${name}: struct`), bytes, fields };
}

function toField(entry: unknown, file: string, kernel: string, bytes: number): ParamField {
  const field = objectOf(entry, file, `a field of ${kernel}`);
  const name = stringOf(field['name'], file, `a field name of ${kernel}`);
  const what = `${kernel}.${name}`;
  const type = stringOf(field['type'], file, `${what}: type`);
  const size = scalarBytes[type];
  const offset = numberOf(field['offset'], file, `${what}: offset`);
  if (!isParamType(type) || size === undefined) throw broken(file, `${what}: type is ${type}`);
  if (offset % size !== 0 || offset + size > bytes) {
    throw broken(file, `${what}: offset ${offset} does not fit a ${type} in ${bytes} bytes`);
  }
  if (type !== 'buf') return { name, type, offset };
  const access = field['access'];
  if (access !== 'r' && access !== 'w' && access !== 'rw') {
    throw broken(file, `${what}: access is ${String(access)}, expected r, w or rw`);
  }
  const dtype = listOf(field['dtype'] ?? [], file, `${what}: dtype`).filter(isDType);
  return { name, type, offset, access, dtype, optional: field['optional'] === true };
}

function isParamType(type: string): type is ParamField['type'] {
  return Object.hasOwn(scalarBytes, type);
}

function objectOf(value: unknown, file: string, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value));
  }
  throw broken(file, `${what} is not an object`);
}

function listOf(value: unknown, file: string, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw broken(file, `${what} is not a list`);
}

function stringOf(value: unknown, file: string, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw broken(file, `${what} is ${String(value)}, expected text`);
}

function numberOf(value: unknown, file: string, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw broken(file, `${what} is ${String(value)}, expected a non-negative integer`);
}

function broken(file: string, detail: string, cause?: unknown): KernelImageError {
  return new KernelImageError({
    code: 'CRT_PARAMS_LAYOUT',
    api: 'runtime.loadModule',
    detail: `${file}: ${detail}`,
    hint: 'Build the kernel package again',
    cause,
  });
}
