import { checkOptions, type OptionNames } from '../arguments/options.js';

/** How far two numbers may be apart: `absolute + relative × |expected|`. Default 0, so equal. */
export interface Tolerance {
  readonly relative?: number;
  readonly absolute?: number;
  /** Begins the error message. */
  readonly message?: string;
}

const names: OptionNames<Tolerance> = { relative: true, absolute: true, message: true };

/**
 * Compares number by number. NaN equals NaN, infinities equal themselves.
 * @throws Error with the worst index and both of its values
 */
export function expectClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: Tolerance = {},
): void {
  checkOptions('expectClose', 'tolerance', tolerance, names);
  const { relative = 0, absolute = 0, message = 'expectClose' } = tolerance;
  if (actual.length !== expected.length) {
    throw new Error(`${message}: ${actual.length} values, expected ${expected.length}`);
  }
  let worst = -1;
  let worstExcess = 0;
  let wrong = 0;
  for (let index = 0; index < expected.length; index += 1) {
    const excess = excessOf(at(actual, index), at(expected, index), relative, absolute);
    if (excess <= 0) continue;
    wrong += 1;
    if (excess > worstExcess) {
      worst = index;
      worstExcess = excess;
    }
  }
  if (wrong === 0) return;
  const [is, should] = [at(actual, worst), at(expected, worst)];
  throw new Error(
    `${message}: ${wrong} of ${expected.length} values are off; worst at ${worst}: ${is}, expected ${should} (difference ${Math.abs(is - should)}, allowed ${absolute + relative * Math.abs(should)})`,
  );
}

// By how much the difference is more than allowed; infinite where no difference can be formed.
function excessOf(actual: number, expected: number, relative: number, absolute: number): number {
  if (Object.is(actual, expected) || actual === expected) return 0;
  const difference = Math.abs(actual - expected);
  if (!Number.isFinite(difference)) return Infinity;
  return difference - (absolute + relative * Math.abs(expected));
}

function at(values: ArrayLike<number>, index: number): number {
  return values[index] ?? Number.NaN;
}
