import { wrongKind } from '../arguments/faults.js';
import type { TensorAllocator } from '../contract.js';
import type { DType } from '../dtype.js';
import type { Tensor } from './tensor.js';
import { Workspace } from './workspace.js';

/**
 * Runs `body` with an allocator for tensors that nothing needs afterwards, and gives them back when
 * it returns or throws. A workspace takes them back at once: what comes later on the stream may
 * overwrite them, since it runs later. Any other allocator gets each tensor disposed, which frees it
 * in stream order. Outputs come from `allocator` itself, before this call.
 *
 * @param body  synchronous: a promise would still hold tensors that are given back
 * @returns what `body` returns
 */
export function withScratch<T>(
  allocator: TensorAllocator,
  body: (scratch: TensorAllocator) => T,
): T {
  if (allocator instanceof Workspace) {
    const mark = allocator.mark();
    try {
      return body(allocator);
    } finally {
      allocator.release(mark);
    }
  }
  if (typeof allocator?.tensor !== 'function') {
    throw wrongKind('withScratch', 'allocator', allocator, 'a stream or a workspace');
  }
  const loan = new Loan(allocator);
  try {
    return body(loan);
  } finally {
    loan.giveBack();
  }
}

/** As `withScratch`, for a launch that wants `bytes` in one piece: null when it wants none. */
export function withScratchBytes<T>(
  allocator: TensorAllocator,
  bytes: number,
  label: string,
  launch: (scratch: Tensor | null) => T,
): T {
  if (bytes === 0) return launch(null);
  return withScratch(allocator, (scratch) => launch(scratch.tensor([bytes], 'u8', label)));
}

/** Remembers what it hands out. */
class Loan implements TensorAllocator {
  readonly #allocator: TensorAllocator;
  readonly #tensors: Tensor[] = [];

  constructor(allocator: TensorAllocator) {
    this.#allocator = allocator;
  }

  tensor(shape: readonly number[], dtype: DType, label?: string): Tensor {
    const tensor = this.#allocator.tensor(shape, dtype, label);
    this.#tensors.push(tensor);
    return tensor;
  }

  giveBack(): void {
    for (const tensor of this.#tensors) tensor.dispose();
  }
}
