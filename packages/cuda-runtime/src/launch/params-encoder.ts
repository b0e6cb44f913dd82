import { wrongKind } from '../arguments/faults.js';
import type { Device, DeviceBuffer, KernelParams, ParamValue } from '../contract.js';
import type { DType } from '../dtype.js';
import { ArgumentError } from '../errors/argument-error.js';
import { BackendMismatchError } from '../errors/backend-mismatch-error.js';
import { describeValue } from '../errors/describe-value.js';
import { KernelImageError } from '../errors/kernel-image-error.js';
import { Condition } from '../graph/condition.js';
import { NativeBuffer } from '../memory/buffer.js';
import { changed, hasPlace, TensorView } from '../memory/tensor.js';
import { commandLayout } from '../native/binding.js';
import type { CommandBlock } from '../native/command-block.js';
import type { ParamField, ParamsLayout } from './params-layout.js';
import { writeScalar } from './scalar.js';

interface BufferField {
  readonly name: string;
  readonly index: number;
  readonly dtypes: readonly DType[];
  readonly isOptional: boolean;
}

/**
 * Writes the parameters of one kernel into the command block. Made once per kernel, so that a launch
 * only looks up values, checks them and stores them.
 */
export class ParamsEncoder {
  readonly #kernel: string;
  readonly #layout: ParamsLayout;
  readonly #buffers: readonly BufferField[];
  readonly #scalars: readonly ParamField[];
  // Fields that may name a condition of a graph.
  readonly #wide: readonly { readonly name: string; readonly index: number }[];
  readonly #paramsWords: number;
  // The call that is being encoded, for errors.
  #api = 'stream.launch';

  /** @throws KernelImageError if the parameters cannot fit into the command block */
  constructor(kernel: string, layout: ParamsLayout) {
    this.#kernel = kernel;
    this.#layout = layout;
    this.#buffers = layout.fields.flatMap((field, index) =>
      field.type === 'buf' ? [toBufferField(field, index)] : [],
    );
    this.#scalars = layout.fields.filter((field) => field.type !== 'buf');
    this.#wide = layout.fields.flatMap(({ name, type }, index) =>
      type === 'u64' ? [{ name, index }] : [],
    );
    this.#paramsWords = Math.ceil(layout.bytes / 4);
    const needed = firstParamByte(this.#buffers.length + this.#wide.length) + layout.bytes;
    if (needed > commandLayout.bytes) {
      const detail = `kernel ${kernel} needs ${needed} bytes to describe a launch, at most ${commandLayout.bytes} are possible`;
      throw new KernelImageError({ api: 'runtime.loadModule', detail });
    }
  }

  /** @throws ArgumentError, DisposedError, BackendMismatchError naming the field */
  encode(block: CommandBlock, params: KernelParams, device: Device, api: string): void {
    this.#api = api;
    const { words } = block;
    let given = 0;
    for (const _ in params) given += 1;
    if (given !== this.#layout.fields.length) throw this.#wrongFields(params);
    let count = this.#encodeBuffers(words, params, device);
    if (this.#wide.length > 0) count = this.#encodeConditions(words, params, count);
    words[commandLayout.bufferCount] = count;
    words[commandLayout.paramsBytes] = this.#layout.bytes;
    const base = firstParamByte(count);
    words.fill(0, base / 4, base / 4 + this.#paramsWords);
    for (const field of this.#scalars) {
      const value = params[field.name];
      if (value instanceof Condition && field.type === 'u64') continue;
      if (!writeScalar(block, base + field.offset, field.type, value)) {
        throw this.#wrongValue(field.name, `a ${field.type}`, value, params);
      }
    }
  }

  #encodeBuffers(words: Int32Array, params: KernelParams, device: Device): number {
    let at: number = commandLayout.buffers;
    let count = 0;
    for (const field of this.#buffers) {
      const value = params[field.name];
      if (value === null && field.isOptional) continue;
      let offset = 0;
      let extent = 0;
      let buffer: DeviceBuffer;
      if (value instanceof TensorView) {
        if (field.dtypes.length > 0 && !field.dtypes.includes(value.dtype)) {
          throw this.#wrongValue(field.name, field.dtypes.join(' or '), value, params);
        }
        ({ buffer, byteOffset: offset, spanBytes: extent } = value);
        if (!hasPlace(value)) throw changed(this.#api, value);
      } else if (value instanceof NativeBuffer) {
        buffer = value;
        extent = value.bytes;
      } else {
        const expected = `a tensor or buffer${field.isOptional ? ' or null' : ''}`;
        throw this.#wrongValue(field.name, expected, value, params);
      }
      if (buffer.device !== device) throw this.#wrongDevice(field.name, buffer.device, device);
      words[at] = buffer.use(this.#api);
      words[at + 1] = field.index;
      words[at + 2] = offset;
      words[at + 3] = offset / 0x1_0000_0000;
      words[at + 4] = extent;
      words[at + 5] = extent / 0x1_0000_0000;
      at += commandLayout.bufferWords;
      count += 1;
    }
    return count;
  }

  // Behind the buffers, in the same form; the struct gets the handle of each executable.
  #encodeConditions(words: Int32Array, params: KernelParams, buffers: number): number {
    let count = buffers;
    for (const { name, index } of this.#wide) {
      const value = params[name];
      if (!(value instanceof Condition)) continue;
      const at = commandLayout.buffers + count * commandLayout.bufferWords;
      words[at] = value.use(this.#api);
      words.fill(0, at + 1, at + commandLayout.bufferWords);
      words[at + 1] = index;
      count += 1;
    }
    return count;
  }

  #wrongFields(params: KernelParams): ArgumentError {
    if (typeof params !== 'object' || params === null) {
      return wrongKind(this.#api, 'params', params, 'an object with a value for each field');
    }
    const names = this.#layout.fields.map((field) => field.name);
    const missing = names.filter((name) => params[name] === undefined);
    const unknown = inheritedKeys(params).filter((name) => !names.includes(name));
    const parts = [
      missing.length > 0 ? `missing: ${missing.join(', ')}` : '',
      unknown.length > 0 ? `unknown: ${unknown.join(', ')}` : '',
    ].filter((part) => part !== '');
    return this.#refuse(
      `${parts.join('; ')}`,
      `Give every field of ${this.#layout.struct} once: ${names.join(', ')}`,
    );
  }

  #wrongValue(
    name: string,
    expected: string,
    value: ParamValue | undefined,
    params: KernelParams,
  ): ArgumentError {
    if (value === undefined) return this.#wrongFields(params);
    return this.#refuse(`\`${name}\` is ${describeParam(value)}, expected ${expected}`);
  }

  #wrongDevice(name: string, actual: Device | undefined, expected: Device): Error {
    if (actual === undefined)
      return this.#refuse(`\`${name}\` is no tensor or buffer of this package`);
    if (actual.runtime !== expected.runtime) {
      return new BackendMismatchError({
        api: this.#api,
        detail: `kernel ${this.#kernel}: \`${name}\` belongs to another runtime (${actual.runtime.backend})`,
        hint: 'Use tensors, kernels and streams of one runtime',
      });
    }
    return this.#refuse(
      `\`${name}\` is on device ${actual.index}, the stream is on device ${expected.index}`,
    );
  }

  #refuse(detail: string, hint?: string): ArgumentError {
    return new ArgumentError({
      api: this.#api,
      detail: `kernel ${this.#kernel}: ${detail}`,
      hint,
    });
  }
}

function firstParamByte(buffers: number): number {
  return 4 * (commandLayout.buffers + buffers * commandLayout.bufferWords);
}

function toBufferField(field: ParamField, index: number): BufferField {
  const { name, dtype = [], optional = false } = field;
  return { name, index, dtypes: dtype, isOptional: optional };
}

// As `encode` counts them.
function inheritedKeys(params: KernelParams): readonly string[] {
  const keys: string[] = [];
  for (const key in params) keys.push(key);
  return keys;
}

function describeParam(value: ParamValue): string {
  if (value instanceof TensorView) return value.describe();
  if (value instanceof Condition) return 'a condition';
  if (value instanceof NativeBuffer) return `a buffer of ${value.bytes} bytes`;
  return describeValue(value);
}
