/** Row `sources[r]` with −∞ at every id whose bit is not set; a row outside is −∞ throughout. */
export function referenceMaskLogits(
  logits: readonly Float32Array[],
  sources: readonly number[],
  masks: readonly Int32Array[],
): number[] {
  const vocab = logits[0]?.length ?? 0;
  return sources.flatMap((source, row) =>
    Array.from({ length: vocab }, (_, id) => {
      const word = masks[row]?.[Math.floor(id / 32)] ?? 0;
      const isAllowed = Math.floor((word >>> 0) / 2 ** (id % 32)) % 2 === 1;
      return isAllowed ? (logits[source]?.[id] ?? -Infinity) : -Infinity;
    }),
  );
}
