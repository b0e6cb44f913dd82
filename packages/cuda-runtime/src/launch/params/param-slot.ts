import type { Device, ParamValue } from '../../contract.js';
import { type DType, dtypeBytes } from '../../dtype.js';
import { NativeBuffer } from '../../memory/buffer.js';
import { hasPlace, TensorView } from '../../memory/tensor.js';
import { commandLayout, type Handle } from '../../native/binding.js';
import type { CommandBlock } from '../../native/command-block.js';
import type { ParamField, ParamsLayout, ParamType } from './params-layout.js';
import { writeScalar } from './scalar.js';

/**
 * One field of a parameter struct: what it may be given, and where that goes in the command block.
 */
export interface ParamSlot {
  readonly name: string;
  readonly type: ParamType;
  /** Of the field in the struct. */
  readonly index: number;
  /** First word of the entry for a buffer or a condition; 0 = the field takes neither. */
  readonly entry: number;
  /** Byte of the value; of a pointer, too, which the addon writes. */
  readonly byte: number;
  readonly dtypes: readonly DType[];
  /** Bytes of an element of all these types; undefined: they differ, or any may be given. */
  readonly elementBytes: number | undefined;
  /** Of the smallest of these types; 1: any may be given. A buffer says no type of its own. */
  readonly leastBytes: number;
  readonly isOptional: boolean;
}

/** The places of a struct in the command block, the same for every launch. */
export interface ParamPlaces {
  readonly slots: readonly ParamSlot[];
  readonly entries: number;
  /** First word of the struct. */
  readonly firstWord: number;
  readonly endWord: number;
}

/** Entries in the order of the fields, then the struct. */
export function placesOf(layout: ParamsLayout): ParamPlaces {
  const entries = layout.fields.filter(hasEntry).length;
  const firstWord = commandLayout.buffers + entries * commandLayout.bufferWords;
  let entry: number = commandLayout.buffers;
  const slots = layout.fields.map((field, index) => {
    const slot = toSlot(field, index, hasEntry(field) ? entry : 0, 4 * firstWord);
    if (hasEntry(field)) entry += commandLayout.bufferWords;
    return slot;
  });
  return { slots, entries, firstWord, endWord: firstWord + Math.ceil(layout.bytes / 4) };
}

// A field of type u64 may name a condition of a graph.
function hasEntry({ type }: ParamField): boolean {
  return type === 'buf' || type === 'u64';
}

// Of the same shape for every field, so that a launch reads them without asking what they have.
function toSlot(field: ParamField, index: number, entry: number, structByte: number): ParamSlot {
  const { name, type, dtype = [], optional = false } = field;
  const byte = structByte + field.offset;
  const [size, ...others] = new Set(dtype.map(dtypeBytes));
  const elementBytes = others.length > 0 ? undefined : size;
  const leastBytes = size === undefined ? 1 : Math.min(size, ...others);
  const types = { dtypes: dtype, elementBytes, leastBytes };
  return { name, type, index, entry, byte, ...types, isOptional: optional };
}

/**
 * Writes the value of one field. The struct's words are zeros before it.
 * @returns false, having thrown nothing, for what cannot be written without a closer look
 */
export function writeSlot(
  block: CommandBlock,
  slot: ParamSlot,
  value: ParamValue | undefined,
  device: Device,
): boolean {
  if (slot.type === 'buf') return writeMemory(block, slot, value, device);
  if (slot.entry !== 0) block.words[slot.entry] = 0;
  return writeScalar(block, slot.byte, slot.type, value);
}

function writeMemory(
  block: CommandBlock,
  slot: ParamSlot,
  value: ParamValue | undefined,
  device: Device,
): boolean {
  if (value instanceof TensorView) {
    if (!takes(slot, value.dtype) || !hasPlace(value, slot.elementBytes)) return false;
    if (value.device !== device) return false;
    return writeRange(block, slot, value.handle, value.byteOffset, value.spanBytes);
  }
  if (value instanceof NativeBuffer) {
    if (value.device !== device || value.byteOffset % slot.leastBytes !== 0) return false;
    return writeRange(block, slot, value.handle, value.byteOffset, value.bytes);
  }
  if (value !== null || !slot.isOptional) return false;
  block.words[slot.entry] = 0;
  return true;
}

/** Whether the field takes elements of this type. */
export function takes({ dtypes }: ParamSlot, dtype: DType): boolean {
  return dtypes[0] === dtype || dtypes.length === 0 || dtypes.includes(dtype);
}

/** Writes the entry of memory. @returns false for the handle of what is disposed */
export function writeRange(
  { words, doubles }: CommandBlock,
  { entry, index }: ParamSlot,
  handle: Handle,
  offset: number,
  extent: number,
): boolean {
  if (handle === 0) return false;
  words[entry] = handle;
  words[entry + 1] = index;
  doubles[(entry >> 1) + 1] = offset;
  doubles[(entry >> 1) + 2] = extent;
  return true;
}
