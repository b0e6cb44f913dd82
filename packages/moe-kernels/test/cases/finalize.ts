/** A weighted sum; `skip(i)` says which of the tokens · k slots are -1. */
export interface FinalizeCase {
  readonly name: string;
  readonly tokens: number;
  readonly k: number;
  readonly hidden: number;
  readonly dtype: 'f32' | 'bf16';
  readonly skip: (slot: number) => boolean;
  readonly scale?: number;
  /** Whether something is added behind the sum. */
  readonly hasAddend?: boolean;
}

const none = () => false;

/** Sizes around the vector widths and the strip of 512 columns; skipped slots; scales. */
export const finalizeCases: readonly FinalizeCase[] = (['f32', 'bf16'] as const).flatMap(
  (dtype) => [
    ...[1, 3, 31, 33, 130, 257].map((tokens) => ({
      name: `${dtype}, ${tokens} tokens`,
      tokens,
      k: 4,
      hidden: 40,
      dtype,
      skip: none,
    })),
    ...[1, 7, 15, 17, 511, 512, 513, 6144].map((hidden) => ({
      name: `${dtype}, hidden ${hidden}`,
      tokens: 3,
      k: 4,
      hidden,
      dtype,
      skip: none,
    })),
    {
      name: `${dtype}, some slots skipped`,
      tokens: 9,
      k: 4,
      hidden: 64,
      dtype,
      skip: (i) => i % 3 === 1,
    },
    {
      name: `${dtype}, no local expert gives zeros`,
      tokens: 5,
      k: 2,
      hidden: 64,
      dtype,
      skip: (i) => i < 6,
    },
    ...[5, 6, 8, 11].map((k) => ({
      name: `${dtype}, ${k} slots`,
      tokens: 4,
      k,
      hidden: 1032,
      dtype,
      skip: (i: number) => i % 4 === 3,
      hasAddend: true,
    })),
    ...[1, 44, 45].map((tokens) => ({
      name: `${dtype}, ${tokens} tokens of the hidden size of M3`,
      tokens,
      k: 1,
      hidden: 6144,
      dtype,
      skip: none,
    })),
    ...[527, 529, 1100].map((tokens) => ({
      name: `${dtype}, ${tokens} tokens around what is resident at once`,
      tokens,
      k: 2,
      hidden: 24,
      dtype,
      skip: none,
    })),
    { name: `${dtype}, one slot`, tokens: 5, k: 1, hidden: 64, dtype, skip: none },
    {
      name: `${dtype}, the output is scaled`,
      tokens: 5,
      k: 4,
      hidden: 64,
      dtype,
      skip: none,
      scale: 2.5,
    },
    ...[5, 513, 6144].map((hidden) => ({
      name: `${dtype}, hidden ${hidden} with an addend`,
      tokens: 7,
      k: 4,
      hidden,
      dtype,
      skip: (i: number) => i % 5 === 2,
      scale: 2,
      hasAddend: true,
    })),
  ],
);
