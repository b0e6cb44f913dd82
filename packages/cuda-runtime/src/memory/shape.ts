/** Product of the dimensions; 1 for a scalar. */
export function elementsOf(shape: readonly number[]): number {
  let elements = 1;
  for (const size of shape) elements *= size;
  return elements;
}

/** Row-major strides in elements. */
export function contiguousStrides(shape: readonly number[]): readonly number[] {
  const strides = shape.slice();
  let stride = 1;
  for (let dim = shape.length - 1; dim >= 0; dim -= 1) {
    strides[dim] = stride;
    stride *= shape[dim] ?? 1;
  }
  return strides;
}

/**
 * Replaces one −1 by what is left of `elements`; undefined if the shape cannot hold exactly them.
 */
export function resolveShape(
  shape: readonly number[],
  elements: number,
): readonly number[] | undefined {
  const open = shape.indexOf(-1);
  const isValid = shape.every((size, dim) => dim === open || (Number.isInteger(size) && size >= 0));
  if (!isValid) return undefined;
  const known = elementsOf(open < 0 ? shape : shape.with(open, 1));
  if (open < 0) return known === elements ? [...shape] : undefined;
  if (known === 0 || elements % known !== 0) return undefined;
  return shape.with(open, elements / known);
}

/**
 * Whether every stride and byte count of such a tensor is an exact number. An empty one counts
 * without its zeros: its strides are numbers, too.
 */
export function isCountable(shape: readonly number[], elementBytes: number): boolean {
  let bytes = elementBytes;
  for (const size of shape) bytes *= size || 1;
  return bytes <= Number.MAX_SAFE_INTEGER;
}
