/** Characters that a function has sets, maps and texts read, by their calls: never the clock. */
export function textWork(act: () => void): number {
  let characters = 0;
  const restores = [
    counted(Set.prototype, 'has', (_, [key]) => lengthOf(key)),
    counted(Map.prototype, 'get', (_, [key]) => lengthOf(key)),
    counted(String.prototype, 'trim', (text) => lengthOf(text)),
    counted(String.prototype, 'trimStart', (text) => lengthOf(text)),
    counted(String.prototype, 'startsWith', (_, [start]) => lengthOf(start)),
    counted(RegExp.prototype, 'test', (_, [text]) => lengthOf(text)),
  ];
  try {
    act();
  } finally {
    for (const restore of restores) restore();
  }
  return characters;

  function counted(
    prototype: object,
    name: string,
    cost: (receiver: unknown, args: readonly unknown[]) => number,
  ): () => void {
    const original = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    const value = function (this: unknown, ...args: unknown[]): unknown {
      characters += cost(this, args);
      return original.value.apply(this, args);
    };
    Object.defineProperty(prototype, name, { ...original, value });
    return () => Object.defineProperty(prototype, name, original);
  }
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' || text instanceof String ? text.length : 0;
}
