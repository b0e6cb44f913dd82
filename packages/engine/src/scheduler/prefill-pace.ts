/** Weight of the newest measurement. */
const newest = 0.25;

/**
 * How long a token of a prompt takes, by how deep in its context it lies: moving averages for each
 * power of two of the position.
 */
export class PrefillPace {
  readonly #msPerToken: number[] = [];

  /** Notes that a chunk whose deepest position is `depth` took so long. */
  observe(chunk: { readonly depth: number; readonly tokens: number; readonly ms: number }): void {
    if (chunk.tokens === 0 || !(chunk.ms >= 0)) return;
    const bucket = bucketOf(chunk.depth);
    const now = chunk.ms / chunk.tokens;
    const before = this.#msPerToken[bucket];
    this.#msPerToken[bucket] = before === undefined ? now : before + newest * (now - before);
  }

  /**
   * Most tokens of a chunk that is predicted to take no longer than the target: whole pages, at
   * least one. Undefined while nothing was measured. A depth without measurements takes the nearest
   * below it, else the nearest above.
   */
  tokensWithin(
    targetMs: number,
    { depth, pageTokens }: { readonly depth: number; readonly pageTokens: number },
  ): number | undefined {
    const pace = this.#nearest(bucketOf(depth));
    if (pace === undefined) return undefined;
    if (pace === 0) return Number.POSITIVE_INFINITY;
    return Math.max(1, Math.floor(targetMs / pace / pageTokens)) * pageTokens;
  }

  #nearest(bucket: number): number | undefined {
    for (let below = bucket; below >= 0; below -= 1) {
      if (this.#msPerToken[below] !== undefined) return this.#msPerToken[below];
    }
    return this.#msPerToken.slice(bucket).find((pace) => pace !== undefined);
  }
}

function bucketOf(depth: number): number {
  return Math.floor(Math.log2(Math.max(1, depth)));
}
