import { checkFunction, wrongKind } from '../arguments/faults.js';
import { refuseUnfinished } from '../arguments/unfinished.js';
import type { TensorAllocator } from '../contract.js';
import type { DType } from '../dtype.js';
import type { Tensor } from './tensor.js';
import { Workspace } from './workspace.js';

/**
 * Runs `body` with an allocator for tensors that nothing needs afterwards, and gives them back when
 * it returns or throws. A workspace takes them back at once: what comes later on the stream may
 * overwrite them, since it runs later. Any other allocator gets each tensor disposed, which frees
 * it in stream order; what `body` gets are borrowed tensors, so that views of them keep nothing.
 * Outputs come from `allocator` itself, before this call.
 *
 * @param body  synchronous: a promise would still hold tensors that are given back
 * @returns what `body` returns
 * @throws ArgumentError, also for a promise and a generator
 */
export function withScratch<T>(
  allocator: TensorAllocator,
  body: (scratch: TensorAllocator) => T,
): T {
  if (typeof allocator?.tensor !== 'function') {
    throw wrongKind(api, 'allocator', allocator, 'a stream or a workspace');
  }
  checkFunction(api, 'body', body);
  if (allocator instanceof Workspace) {
    const mark = allocator.mark();
    try {
      return refuseAsync(body(allocator));
    } finally {
      if (!allocator.isDisposed) allocator.release(mark);
    }
  }
  const loan = new Loan(allocator);
  try {
    return refuseAsync(body(loan));
  } finally {
    loan.giveBack();
  }
}

const api = 'withScratch';

function refuseAsync<T>(result: T): T {
  const why = 'its scratch memory is given back when it returns';
  return refuseUnfinished(api, result, why, 'Make it synchronous: await before or after');
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
    return tensor.borrow();
  }

  giveBack(): void {
    for (const tensor of this.#tensors) tensor.dispose();
  }
}
