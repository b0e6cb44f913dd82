import type { ChoiceStep } from './choice.js';

/** The steps of an answer, for one reader. */
export interface ChoiceSteps {
  /**
   * Waits until there is something to read, or for so long; 0 = as long as it takes.
   *
   * @throws the error of an answer that failed before its first step
   */
  begun(mostMs: number): Promise<void>;
  /**
   * Hands every step over at the moment it comes, those that came before first; resolves after the
   * last one. What `take` throws gives the answer up.
   *
   * @throws the first error of a choice, or of `take`
   */
  read(take: (step: ChoiceStep) => void): Promise<void>;
}

/**
 * Steps on their way to the one who reads them. No promise is made for a step: tokens of many
 * answers come at once, and each would cost several turns of the microtask queue.
 */
export class StepStream implements ChoiceSteps {
  readonly #giveUp: () => void;
  readonly #waiting: ChoiceStep[] = [];
  #take: ((step: ChoiceStep) => void) | undefined;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** @param giveUp ends all choices; called when one of them failed, or the reader did */
  constructor(giveUp: () => void) {
    this.#giveUp = giveUp;
  }

  /** True when no step is taken any more. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(step: ChoiceStep): void {
    if (this.#isEnded) return;
    if (this.#take) {
      this.#hand(step, this.#take);
      return;
    }
    this.#waiting.push(step);
    this.#wake?.();
  }

  /** No step follows. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async begun(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    if (this.#waiting.length === 0 && !this.#isEnded) {
      const late = new Promise<void>((resolve) => {
        if (mostMs > 0) timer = setTimeout(resolve, mostMs);
      });
      await Promise.race([this.#something(), late]);
      clearTimeout(timer);
    }
    const error = this.#waiting[0]?.error;
    if (!error) return;
    this.#giveUp();
    throw error;
  }

  async read(take: (step: ChoiceStep) => void): Promise<void> {
    for (const step of this.#waiting.splice(0)) this.#hand(step, take);
    this.#take = take;
    while (!this.#isEnded) await this.#something();
    if (this.#failure) throw this.#failure.error;
  }

  #hand(step: ChoiceStep, take: (step: ChoiceStep) => void): void {
    if (this.#failure) return;
    try {
      if (step.error) throw step.error;
      take(step);
    } catch (error) {
      this.#failure = { error };
      this.end();
      this.#giveUp();
    }
  }

  #something(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
