// The choice of blocks by a full sort.

/** What is chosen from. */
export interface ReferenceTopkInput {
  /** [tokens, indexHeads, maxPages] */
  readonly scores: ArrayLike<number>;
  readonly positions: Int32Array;
  readonly indexHeads: number;
  readonly maxPages: number;
  readonly pageTokens: number;
  readonly topkBlocks: number;
  readonly initBlocks?: number | undefined;
  readonly localBlocks?: number | undefined;
}

/** [indexHeads, tokens, topkBlocks], ascending, left-packed, −1 behind. */
export function referenceBlockTopk(input: ReferenceTopkInput): Int32Array {
  const { positions, indexHeads, topkBlocks } = input;
  const tokens = positions.length;
  const blocks = new Int32Array(indexHeads * tokens * topkBlocks).fill(-1);
  for (let head = 0; head < indexHeads; head += 1) {
    for (let token = 0; token < tokens; token += 1) {
      blocks.set(chooseRow(input, token, head), (head * tokens + token) * topkBlocks);
    }
  }
  return blocks;
}

function chooseRow(input: ReferenceTopkInput, token: number, head: number): number[] {
  const { initBlocks = 0, localBlocks = 1, maxPages, pageTokens, topkBlocks } = input;
  const position = input.positions[token] ?? -1;
  if (position < 0) return [];
  const candidates = Math.min(Math.floor(position / pageTokens) + 1, maxPages);
  const isForced = (block: number) => block < initBlocks || block >= candidates - localBlocks;
  const scoreOf = (block: number) => {
    const score = input.scores[(token * input.indexHeads + head) * maxPages + block] ?? 0;
    return Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
  };
  const compare = (a: number, b: number) => {
    if (isForced(a) !== isForced(b)) return isForced(a) ? -1 : 1;
    if (isForced(a) || scoreOf(a) === scoreOf(b)) return a - b;
    return scoreOf(b) > scoreOf(a) ? 1 : -1;
  };
  const all = Array.from({ length: candidates }, (_, block) => block);
  return all
    .sort(compare)
    .slice(0, topkBlocks)
    .sort((a, b) => a - b);
}
