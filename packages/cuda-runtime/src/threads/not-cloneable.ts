/**
 * Value of an own property of every wrapper. Structured clone meets it and fails with a
 * `DataCloneError` that says what to do, instead of making an empty object of the wrapper.
 */
export const notCloneable: unique symbol = Symbol(
  'cuda-runtime object; pass exportHandle(object) instead',
);
