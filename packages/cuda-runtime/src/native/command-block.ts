/** Typed views of the memory through which launches are described to the addon. */
export class CommandBlock {
  /** 32-bit words, signed; `commandLayout` names them. */
  readonly words: Int32Array;
  readonly floats: Float32Array;
  readonly doubles: Float64Array;
  readonly longs: BigInt64Array;
  readonly octets: Uint8Array;
  readonly bytes: number;
  /** Grows with each launch that is described here. */
  turn = 0;

  constructor(memory: ArrayBuffer) {
    this.words = new Int32Array(memory);
    this.floats = new Float32Array(memory);
    this.doubles = new Float64Array(memory);
    this.longs = new BigInt64Array(memory);
    this.octets = new Uint8Array(memory);
    this.bytes = memory.byteLength;
  }
}
