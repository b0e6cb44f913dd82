import { CudaRuntimeError } from './cuda-runtime-error.js';

/**
 * The first of several errors, with the others in its `suppressed`. An error of the user's own is
 * given that property too; a thrown value that is no object stays as it is.
 */
export function suppress(errors: readonly unknown[]): unknown {
  const [first, ...rest] = errors;
  if (rest.length === 0) return first;
  if (CudaRuntimeError.isInstance(first)) first.suppressed = rest;
  else if (first instanceof Error) Object.assign(first, { suppressed: rest });
  return first;
}
