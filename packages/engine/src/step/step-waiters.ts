/** Those who wait until a step, and those before it, are over and their pages are back. */
export class StepWaiters {
  #waiting: readonly { readonly step: number; readonly resolve: () => void }[] = [];

  wait(step: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, { step, resolve }];
    });
  }

  /** Pages that the steps up to this one were the last to use are back. */
  released(step: number): void {
    if (this.#waiting.length === 0) return;
    const over = this.#waiting.filter((one) => one.step <= step);
    this.#waiting = this.#waiting.filter((one) => one.step > step);
    for (const { resolve } of over) resolve();
  }
}
