import { callApi } from '../shell/api.js';
import { byId } from '../shell/element.js';
import { numberText } from '../shell/number-text.js';

const pauseMs = 1000;

/**
 * Says how many tokens the next prompt has; the server counts, once nothing has changed for a
 * second.
 */
export class PromptCount {
  readonly #bodyOf: () => Record<string, unknown> | undefined;
  readonly #place = byId('prompt-count', HTMLElement);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | undefined;

  /** @param bodyOf the next request; undefined when there is none, or none that can be sent */
  constructor(bodyOf: () => Record<string, unknown> | undefined) {
    this.#bodyOf = bodyOf;
  }

  /** The prompt is another one now. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#place.textContent = '';
    this.#timer = setTimeout(() => void this.#count(), pauseMs);
  }

  async #count(): Promise<void> {
    const body = this.#bodyOf();
    if (!body) return;
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const answer = await callApi('tokenize', { body, signal: asked.signal });
      const { count } = (await answer.json()) as { count: number };
      this.#place.textContent = `Next prompt: ${numberText(count)} tokens`;
    } catch (error) {
      if (!asked.signal.aborted) {
        this.#place.textContent = `Next prompt: ${(error as Error).message}`;
      }
    }
  }
}
