import { CudaRuntimeError } from './cuda-runtime-error.js';

/**
 * The first of several errors, with the others in its `suppressed`. An error of the user's own is
 * given that property too; a thrown value that is no error, or takes no property, stays as it is.
 */
export function suppress(errors: readonly unknown[]): unknown {
  const [first, ...rest] = errors;
  if (rest.length > 0) attach(first, rest);
  return first;
}

function attach(error: unknown, rest: readonly unknown[]): void {
  try {
    // Other than an assignment this throws nothing where the error is frozen.
    const isError = CudaRuntimeError.isInstance(error) || error instanceof Error;
    if (isError) Reflect.set(error, 'suppressed', rest);
  } catch {
    // A setter or a proxy of the user's threw; what the user threw first is what counts.
  }
}
