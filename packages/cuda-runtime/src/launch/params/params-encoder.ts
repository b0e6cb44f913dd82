import { wrongKind } from '../../arguments/faults.js';
import type { Device, KernelParams, ParamValue } from '../../contract.js';
import { ArgumentError } from '../../errors/argument-error.js';
import { BackendMismatchError } from '../../errors/backend-mismatch-error.js';
import { anotherCopy, describeValue, isOfAnotherCopy } from '../../errors/describe-value.js';
import { KernelImageError } from '../../errors/kernel-image-error.js';
import { shorten } from '../../errors/short-text.js';
import { Condition } from '../../graph/condition.js';
import { NativeBuffer } from '../../memory/buffer.js';
import { changed, hasPlace, TensorView } from '../../memory/tensor.js';
import { commandLayout } from '../../native/binding.js';
import type { CommandBlock } from '../../native/command-block.js';
import {
  type ParamPlaces,
  type ParamSlot,
  placesOf,
  takes,
  writeRange,
  writeSlot,
} from './param-slot.js';
import type { ParamsLayout } from './params-layout.js';
import { scalarText } from './scalar.js';

// How often an encoder follows callers that give the fields in another order than the last one.
const mostOrders = 16;

/**
 * Writes the parameters of one kernel into the command block. Made once per kernel, so that a
 * launch only looks up values, checks them and stores them.
 */
export class ParamsEncoder {
  readonly #kernel: string;
  readonly #layout: ParamsLayout;
  readonly #places: ParamPlaces;
  // Fields as callers give them: reading an object in its own order is twice as fast as by name.
  #names: readonly string[] = [];
  #slots: readonly ParamSlot[] = [];
  #orders = 0;
  // The call that is being encoded, for errors.
  #api = 'stream.launch';

  /** @throws KernelImageError if the parameters cannot fit into the command block */
  constructor(kernel: string, layout: ParamsLayout) {
    this.#kernel = kernel;
    this.#layout = layout;
    this.#places = placesOf(layout);
    const needed = 4 * this.#places.firstWord + layout.bytes;
    if (needed > commandLayout.bytes) {
      const detail = `kernel ${kernel} needs ${needed} bytes to describe a launch, at most ${commandLayout.bytes} are possible`;
      throw new KernelImageError({ api: 'runtime.loadModule', detail });
    }
  }

  /** @throws ArgumentError, DisposedError, BackendMismatchError naming the field */
  encode(block: CommandBlock, params: KernelParams, device: Device, api: string): void {
    const { words } = block;
    const { entries, firstWord, endWord } = this.#places;
    words[commandLayout.bufferCount] = entries;
    words[commandLayout.paramsBytes] = this.#layout.bytes;
    for (let word = firstWord; word < endWord; word += 1) words[word] = 0;
    if (!this.#encodeInOrder(block, params, device)) {
      this.#api = api;
      this.#encodeByName(block, params, device);
    }
  }

  /** False when something is not as in the last launch, or wrong. */
  #encodeInOrder(block: CommandBlock, params: KernelParams, device: Device): boolean {
    const names = this.#names;
    const slots = this.#slots;
    let given = 0;
    for (const name in params) {
      const slot = slots[given];
      if (slot === undefined || names[given] !== name) return false;
      if (!writeSlot(block, slot, params[name], device)) return false;
      given += 1;
    }
    return given === this.#places.slots.length;
  }

  // In the order of the struct, which decides what is reported when several fields are wrong.
  #encodeByName(block: CommandBlock, params: KernelParams, device: Device): void {
    const { slots } = this.#places;
    const given = inheritedKeys(params);
    if (given.length !== slots.length) throw this.#wrongFields(params);
    for (const slot of slots) {
      if (slot.type === 'buf') this.#encodeMemory(block, slot, params, device);
    }
    for (const slot of slots) {
      const value = params[slot.name];
      if (slot.type === 'buf' || writeSlot(block, slot, value, device)) continue;
      if (!(value instanceof Condition) || slot.type !== 'u64') {
        throw this.#wrongValue(slot.name, scalarText(slot.type), value, params);
      }
      // The struct gets the handle of each executable.
      writeRange(block, slot, value.use(this.#api), 0, 0);
    }
    if (this.#orders < mostOrders) this.#follow(given);
  }

  #follow(names: readonly string[]): void {
    this.#orders += 1;
    const slotOf = new Map(this.#places.slots.map((slot) => [slot.name, slot]));
    const slots = names.flatMap((name) => slotOf.get(name) ?? []);
    // A field that is hidden makes room for a name that is none.
    if (slots.length !== names.length) return;
    this.#names = names;
    this.#slots = slots;
  }

  #encodeMemory(block: CommandBlock, slot: ParamSlot, params: KernelParams, device: Device): void {
    const { name } = slot;
    const value = params[name];
    if (writeSlot(block, slot, value, device)) return;
    if (!(value instanceof TensorView || value instanceof NativeBuffer)) {
      const expected = `a tensor or buffer${slot.isOptional ? ' or null' : ''}`;
      throw this.#wrongValue(name, expected, value, params);
    }
    if (value instanceof NativeBuffer) {
      if (value.device !== device) throw this.#wrongDevice(name, value.device, device);
      value.use(this.#api);
      // A field of bytes would have been written.
      throw this.#refuse(
        `\`${name}\` begins at byte ${value.byteOffset} of its memory, expected a multiple of ${slot.leastBytes}`,
      );
    } else {
      if (!takes(slot, value.dtype)) {
        throw this.#wrongValue(name, slot.dtypes.join(' or '), value, params);
      }
      if (!hasPlace(value)) throw changed(this.#api, value);
      const { byteOffset, spanBytes } = value;
      if (value.device !== device) throw this.#wrongDevice(name, value.device, device);
      const isOurs = writeRange(block, slot, value.use(this.#api), byteOffset, spanBytes);
      if (!isOurs) throw this.#wrongDevice(name, undefined, device);
    }
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
      unknown.length > 0 ? `unknown: ${shorten(unknown.join(', '), 400)}` : '',
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
    const isOther = isOfAnotherCopy(value, expected);
    const what = `${describeParam(value)}${isOther ? ` ${anotherCopy.what}` : ''}`;
    const hint = isOther ? anotherCopy.hint : undefined;
    return this.#refuse(`\`${name}\` is ${what}, expected ${expected}`, hint);
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
