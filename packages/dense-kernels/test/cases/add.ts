/** Two tensors to add. */
export interface AddCase {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: 'bf16' | 'f32';
}

/** Every dtype; no elements, one, odd counts, a decoder layer of MiniMax-M3. */
export const addCases: readonly AddCase[] = (['bf16', 'f32'] as const).flatMap((dtype) => [
  { name: `${dtype}, no elements`, shape: [0, 64], dtype },
  { name: `${dtype}, one element`, shape: [1], dtype },
  { name: `${dtype}, odd count`, shape: [3, 5, 7], dtype },
  { name: `${dtype}, 1 x 6144`, shape: [1, 6144], dtype },
  { name: `${dtype}, several pieces and a rest`, shape: [13, 6151], dtype },
]);
