/** Kernels that were launched programmatically and never waited, as counters tell of them. */
interface WaitCounters {
  readonly kernelsWithoutWait?: number;
  readonly kernelWithoutWait?: string;
}

/**
 * Warns of kernels that claim to wait for their predecessors and do not: on a GPU they would read
 * too early. With `strictPdl` it is an error instead.
 */
export class MissingWaits {
  #isSilent: boolean;

  /** @param isStrict they are errors, so nothing is warned of */
  constructor(isStrict: boolean) {
    this.#isSilent = isStrict;
  }

  /** Looks at the counters of a runtime; warns at most once. */
  look({ kernelsWithoutWait: count = 0, kernelWithoutWait: kernel = '' }: WaitCounters): void {
    if (count === 0 || this.#isSilent) return;
    this.#isSilent = true;
    const others = count > 1 ? `, the latest of ${count}` : '';
    process.emitWarning(
      `cuda-runtime: kernel ${kernel} was launched programmatically and ended without waiting for its predecessors${others}. Call grid_dependency_sync in it, or launch it without \`programmatic\``,
      { code: 'CRT_PDL_NO_WAIT' },
    );
  }
}
