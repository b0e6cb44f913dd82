import type { Tensor } from '@altstream/cuda-runtime';

/** A token on the device. */
export interface DrawnToken {
  /** i32 [rows] */
  readonly ids: Tensor;
  readonly row: number;
}

/** What a step drew and the host may not know yet, by whose it is and where it stands. */
export interface DeviceDraws {
  /** The token at a position of a sequence; undefined = it is not here. */
  tokenAt(id: number, position: number): DrawnToken | undefined;
  /** i32 [1, vocab]: what the sequence's tokens below the position count; undefined = not here. */
  countsBelow(id: number, position: number): Tensor | undefined;
}
