/**
 * Errors are recognised by registered symbols instead of `instanceof`, so that two copies of this
 * package in one process agree about them.
 */
export function hasMarker(value: unknown, className: string): boolean {
  return typeof value === 'object' && value !== null && markerOf(className) in value;
}

/** Marks `error` with the name of every class between its own and `Error`. */
export function markWithClasses(error: Error): void {
  let prototype: unknown = Object.getPrototypeOf(error);
  while (prototype instanceof Error && prototype.constructor !== Error) {
    Object.defineProperty(error, markerOf(prototype.constructor.name), { value: true });
    prototype = Object.getPrototypeOf(prototype);
  }
}

function markerOf(className: string): symbol {
  return Symbol.for(`altstream.cuda-runtime.${className}`);
}
