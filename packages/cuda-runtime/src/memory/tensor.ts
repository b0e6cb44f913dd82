import { wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type * as contract from '../contract.js';
import { type DType, dtypeBytes, dtypeNames, isDType } from '../dtype.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeList, describeValue } from '../errors/describe-value.js';
import { shorten } from '../errors/short-text.js';
import type { Handle } from '../native/binding.js';
import { NativeBuffer } from './buffer.js';
import { HostBuffer } from './host-buffer.js';
import { contiguousStrides, elementsOf, isCountable, resolveShape } from './shape.js';
import { disposedView, noteDisposal, type SharedMemory } from './shared-memory.js';

/** A view of device memory: buffer, element type, shape, strides and byte offset. */
export type Tensor = contract.Tensor;

/** Makes tensors. */
export const Tensor = {
  /**
   * Allocates a contiguous tensor.
   * @param shape non-negative integers; a 0 makes an empty tensor
   * @param options the stream that orders the allocation (default: the current one), a label
   * @throws ArgumentError, OutOfMemoryError
   */
  allocate(
    device: contract.Device,
    shape: readonly number[],
    dtype: DType,
    options: contract.AllocOptions = {},
  ): Tensor {
    const api = 'Tensor.allocate';
    if (typeof device?.alloc !== 'function') throw wrongKind(api, 'device', device, 'a device');
    const checked = checkShape(api, shape, dtype);
    const buffer = device.alloc(elementsOf(checked) * dtypeBytes(dtype), options);
    const memory = sharedBy(api, buffer);
    return new TensorView(buffer, checked, dtype, { memory, share: 'made' });
  },

  /**
   * A view of a buffer, or of what a tensor covers. It shares the memory, which stays until the
   * last view is disposed; of a borrowed tensor it is a borrowed view.
   * @throws ArgumentError if the view does not lie inside or is misaligned; DisposedError
   */
  of(
    memory: contract.DeviceBuffer | Tensor,
    shape: readonly number[],
    dtype: DType,
    layout: TensorLayout = {},
  ): Tensor {
    const api = 'Tensor.of';
    const base = baseOf(api, memory);
    const checked = checkShape(api, shape, dtype);
    checkOptions(api, 'layout', layout, layoutNames);
    const { strides, byteOffset = 0 } = layout;
    const own = strides && copyOf(api, 'strides', strides);
    if (own) checkStrides(own, checked.length);
    checkStart(byteOffset, base.start, dtype);
    const { start, memory: shared, share } = base;
    // Not spread, which would cost more than the tensor.
    const place = { strides: own, byteOffset: start + byteOffset, memory: shared, share };
    const tensor = new TensorView(base.buffer, checked, dtype, place);
    const end = byteOffset + tensor.spanBytes;
    if (end <= base.bytes) return tensor;
    tensor.dispose();
    const range = `[${byteOffset}, ${end})`;
    const detail = `${tensor.describe()} covers bytes ${range} of ${base.what} of ${base.bytes}`;
    throw argument(api, detail);
  },

  /** `value instanceof Tensor`. */
  [Symbol.hasInstance](value: unknown): value is Tensor {
    return value instanceof TensorView;
  },
};

/** Where a view begins and how it steps. */
export interface TensorLayout {
  /** Elements from one index to the next, per dimension; default contiguous. */
  readonly strides?: readonly number[];
  /** Bytes from the start of the buffer, or from the first element of the tensor; default 0. */
  readonly byteOffset?: number;
}

const layoutNames: OptionNames<TensorLayout> = { strides: true, byteOffset: true };

/**
 * What a tensor has of its memory: it made it, with the buffer; a share of it, which keeps it; or
 * nothing, so that it ends with the last share.
 */
type Share = 'made' | 'shared' | 'borrowed';

interface TensorPlace {
  readonly strides?: readonly number[] | undefined;
  readonly byteOffset?: number;
  /** Null: the buffer is none of this package, which launches and copies refuse. */
  readonly memory: SharedMemory | null;
  readonly share: Share;
}

/** The one implementation of `Tensor`. */
export class TensorView implements contract.Tensor {
  readonly buffer: contract.DeviceBuffer;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly byteOffset: number;
  readonly elements: number;
  readonly bytes: number;
  readonly spanBytes: number;
  readonly isContiguous: boolean;
  /** @internal Undefined after `dispose`. Not private: a proxy of a tensor is a tensor. */
  memory: SharedMemory | null | undefined;
  /** @internal */
  readonly share: Share;

  constructor(
    buffer: contract.DeviceBuffer,
    shape: readonly number[],
    dtype: DType,
    { strides, byteOffset = 0, memory, share }: TensorPlace,
  ) {
    const dense = contiguousStrides(shape);
    this.buffer = buffer;
    this.dtype = dtype;
    this.shape = shape;
    this.strides = strides ?? dense;
    this.byteOffset = byteOffset;
    this.elements = elementsOf(shape);
    this.bytes = this.elements * dtypeBytes(dtype);
    this.isContiguous = strides === undefined || isDense(shape, strides, dense);
    this.spanBytes = this.isContiguous ? this.bytes : spanOf(this);
    this.memory = memory;
    this.share = share;
    if (isCounted(share, memory)) memory.open(share === 'made' ? undefined : this);
  }

  get device(): contract.Device {
    return this.buffer.device;
  }

  get rank(): number {
    return this.shape.length;
  }

  get isDisposed(): boolean {
    return this.memory === undefined || this.memory?.isReleased === true;
  }

  /** @internal The handle; 0 after `dispose`, and of a buffer that is none of this package. */
  get handle(): Handle {
    return this.memory?.handle ?? 0;
  }

  /** @internal The handle; 0 of a buffer that is none of this package. @throws DisposedError */
  use(api: string): Handle {
    return this.shared(api)?.use(api) ?? 0;
  }

  /** @internal The record, for views of it. @throws DisposedError */
  shared(api: string): SharedMemory | null {
    const { memory } = this;
    if (memory === undefined) throw disposedView(api, this, nameOf(this));
    if (memory?.isReleased) memory.use(api);
    return memory;
  }

  view(shape: readonly number[]): Tensor {
    const memory = this.shared('tensor.view');
    if (!this.isContiguous) {
      throw argument('tensor.view', `the tensor ${this.describe()} is not contiguous`);
    }
    if (!Array.isArray(shape)) throw wrongKind('tensor.view', 'shape', shape, 'an array');
    const resolved = resolveShape(shape, this.elements);
    if (!resolved || !isCountable(resolved, dtypeBytes(this.dtype))) {
      const detail = `${describeList(shape)} does not hold the ${this.elements} elements of ${this.describe()}`;
      throw argument('tensor.view', detail);
    }
    return new TensorView(this.buffer, resolved, this.dtype, {
      byteOffset: this.byteOffset,
      memory,
      share: ofView(this.share, memory),
    });
  }

  slice(dim: number, start: number, end: number): Tensor {
    const memory = this.shared('tensor.slice');
    // A name such as `length` is no dimension.
    const own = Number.isInteger(dim) ? dim : -1;
    const size = this.shape[own];
    const stride = this.strides[own];
    if (size === undefined || stride === undefined) {
      throw argument(
        'tensor.slice',
        `\`dim\` is ${describeValue(dim)}, expected 0 … ${this.rank - 1}`,
      );
    }
    const isInside = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end <= size;
    if (!isInside || start > end) {
      const range = `[${describeValue(start)}, ${describeValue(end)})`;
      const detail = `${range} is not inside dimension ${dim} of size ${size}`;
      throw argument('tensor.slice', detail);
    }
    // What is empty stays where its tensor begins: behind the end there is no place in the buffer.
    const skipped = start === end || this.elements === 0 ? 0 : start * stride;
    return new TensorView(this.buffer, this.shape.with(dim, end - start), this.dtype, {
      strides: this.strides,
      byteOffset: this.byteOffset + skipped * dtypeBytes(this.dtype),
      memory,
      share: ofView(this.share, memory),
    });
  }

  borrow(): Tensor {
    const { buffer, shape, dtype, strides, byteOffset } = this;
    const memory = this.shared('tensor.borrow');
    const place = { strides, byteOffset, memory, share: 'borrowed' } as const;
    return new TensorView(buffer, shape, dtype, place);
  }

  describe(): string {
    return `${this.dtype} ${describeList(this.shape)}`;
  }

  dispose(): void {
    const { memory, share } = this;
    if (memory === undefined) return;
    if (share === 'made') this.buffer.dispose();
    this.memory = undefined;
    noteDisposal<TensorView>(this, nameOf);
    if (isCounted(share, memory)) memory.close(share === 'made' ? undefined : this);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function nameOf(tensor: TensorView): string {
  const { label } = tensor.buffer;
  return `tensor ${tensor.describe()}${label ? ` of buffer ${shorten(label)}` : ''}`;
}

/** A copy of the shape. @throws ArgumentError naming shape or dtype */
export function checkShape(api: string, shape: readonly number[], dtype: DType): readonly number[] {
  if (!isDType(dtype)) throw wrongKind(api, 'dtype', dtype, dtypeNames);
  const own = copyOf(api, 'shape', shape);
  for (const size of own) {
    if (!Number.isSafeInteger(size) || size < 0) {
      throw argument(api, `\`shape\` is ${describeList(own)}, expected non-negative integers`);
    }
  }
  if (!isCountable(own, dtypeBytes(dtype))) {
    throw argument(
      api,
      `\`shape\` is ${describeList(own)}, expected ${dtype} of less than 2^53 bytes`,
    );
  }
  return own;
}

/**
 * Shape and strides are read-only in TypeScript only, and kernels trust them. Launches check the
 * memory that the tensor said it has, so it must still say that.
 * @throws ArgumentError
 */
export function checkUnchanged(tensor: contract.Tensor): void {
  if (!(tensor instanceof TensorView)) return;
  const isSame =
    elementsOf(tensor.shape) === tensor.elements && spanOf(tensor) === tensor.spanBytes;
  if (!isSame || !hasPlace(tensor)) throw changed('tensor', tensor);
}

/**
 * Whether the place in the buffer can still be one: offset and span are as read-only as the shape.
 * @param size of an element, where the caller knows it
 */
export function hasPlace(tensor: contract.Tensor, size = dtypeBytes(tensor.dtype)): boolean {
  const { byteOffset } = tensor;
  if (!isCount(byteOffset) || !isCount(tensor.spanBytes) || !isCount(tensor.bytes)) return false;
  // Nearly all begin where their buffer does.
  return byteOffset === 0 || byteOffset % size === 0;
}

/** The error for a tensor that was written to, to throw. */
export function changed(api: string, tensor: contract.Tensor): ArgumentError {
  const detail = `the tensor was changed after it was made, to ${tensor.describe()} with strides ${describeList(tensor.strides)} at byte ${tensor.byteOffset}`;
  const hint = 'Make another tensor with `view`, `slice` or `Tensor.of`';
  return new ArgumentError({ api, detail, hint });
}

// The caller may change its array; freezing would cost a third of a tensor.
function copyOf(api: string, name: string, sizes: readonly number[]): readonly number[] {
  if (!Array.isArray(sizes)) throw wrongKind(api, name, sizes, 'an array of integers');
  return sizes.slice();
}

function checkStrides(strides: readonly number[], rank: number): void {
  // `every` would pass over holes.
  if (strides.length === rank && Array.from(strides).every(isCount)) return;
  const detail = `\`strides\` is ${describeList(strides)}, expected ${rank} non-negative integers`;
  throw argument('Tensor.of', detail);
}

function checkStart(byteOffset: number, start: number, dtype: DType): void {
  const size = dtypeBytes(dtype);
  const isPlace = Number.isSafeInteger(byteOffset) && byteOffset >= 0;
  if (isPlace && (start + byteOffset) % size === 0) return;
  const from = start % size === 0 ? '' : `, counted from byte ${start} of the memory`;
  const expected =
    from === '' ? `a non-negative multiple of ${size}` : `a multiple of ${size} there`;
  const detail = `\`byteOffset\` is ${describeValue(byteOffset)}${from}, expected ${expected}`;
  throw argument('Tensor.of', detail);
}

/** Where a view may lie. */
interface Base {
  readonly buffer: contract.DeviceBuffer;
  /** Bytes from the start of the memory. */
  readonly start: number;
  readonly bytes: number;
  readonly what: 'a buffer' | 'a tensor';
  readonly memory: SharedMemory | null;
  readonly share: Share;
}

function baseOf(api: string, memory: contract.DeviceBuffer | contract.Tensor): Base {
  if (memory instanceof TensorView) {
    const { buffer, byteOffset: start, spanBytes: bytes } = memory;
    const shared = memory.shared(api);
    const share = ofView(memory.share, shared);
    return { buffer, start, bytes, what: 'a tensor', memory: shared, share };
  }
  const what = 'a buffer';
  if (memory instanceof NativeBuffer) {
    const { whole, byteOffset: start, bytes } = memory;
    const shared = memory.shared(api);
    const share = ofView('shared', shared);
    return { buffer: whole, start, bytes, what, memory: shared, share };
  }
  if (memory instanceof HostBuffer || typeof memory?.bytes !== 'number') {
    throw wrongKind(api, 'memory', memory, 'a device buffer or a tensor');
  }
  // Whatever has a size, such as a test's; nothing can be submitted with it.
  const buffer = memory as contract.DeviceBuffer;
  return { buffer, start: 0, bytes: memory.bytes, what, memory: null, share: 'shared' };
}

// Memory that a graph allocates is freed by its buffer's dispose, whatever tensors there are.
function isCounted(share: Share, memory: SharedMemory | null): memory is SharedMemory {
  return share !== 'borrowed' && memory !== null && !memory.isLent;
}

/** The record of a buffer; null if it is none of this package. @throws DisposedError */
export function sharedBy(api: string, buffer: contract.DeviceBuffer): SharedMemory | null {
  return buffer instanceof NativeBuffer ? buffer.shared(api) : null;
}

// A view of a borrowed tensor is borrowed, too: what lends, such as a workspace, gives its memory
// back whatever views there are.
function ofView(share: Share, memory: SharedMemory | null): Share {
  return share === 'borrowed' || memory?.isLent ? 'borrowed' : 'shared';
}

// Nearly all are 32-bit integers, which cost a tenth of what the general question does.
function isCount(value: number): boolean {
  if (typeof value === 'number' && value >>> 0 === value) return true;
  return Number.isSafeInteger(value) && value >= 0;
}

// The stride of a dimension of size 1 never matters, and an empty tensor has no memory.
function isDense(
  shape: readonly number[],
  strides: readonly number[],
  dense: readonly number[],
): boolean {
  if (shape.includes(0)) return true;
  return shape.every((size, dim) => size === 1 || strides[dim] === dense[dim]);
}

function spanOf(tensor: TensorView): number {
  if (tensor.elements === 0) return 0;
  let last = 0;
  const { shape, strides } = tensor;
  for (let dim = 0; dim < shape.length; dim += 1) {
    last += ((shape[dim] ?? 1) - 1) * (strides[dim] ?? 0);
  }
  return (last + 1) * dtypeBytes(tensor.dtype);
}

function argument(api: string, detail: string): ArgumentError {
  return new ArgumentError({ api, detail });
}
