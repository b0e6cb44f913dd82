/** A cache after its rows [tokens, width] went to their slots; other slots keep their value. */
export function referenceKvWrite(
  cache: Float32Array,
  rows: Float32Array,
  slots: Int32Array,
  width: number,
): Float32Array {
  const written = cache.slice();
  for (const [token, slot] of slots.entries()) {
    if (slot < 0 || slot >= cache.length / width) continue;
    written.set(rows.subarray(token * width, (token + 1) * width), slot * width);
  }
  return written;
}
