/** Row-major scales into 128 x 4 tiles, by the formula of the layout; padding is 0. */
export function referencePack(scales: Uint8Array, rows: number, blocks: number): Uint8Array {
  const tiles = Math.ceil(blocks / 4);
  const packed = new Uint8Array(Math.ceil(rows / 128) * tiles * 512);
  for (let row = 0; row < rows; row += 1) {
    for (let block = 0; block < blocks; block += 1) {
      packed[packedOffset(row, block, tiles)] = scales[row * blocks + block] ?? 0;
    }
  }
  return packed;
}

/** Where scale (row, block) lies among `tiles` tiles a band. */
export function packedOffset(row: number, block: number, tiles: number): number {
  return (
    Math.floor(row / 128) * tiles * 512 +
    Math.floor(block / 4) * 512 +
    (row % 32) * 16 +
    Math.floor((row % 128) / 32) * 4 +
    (block % 4)
  );
}
