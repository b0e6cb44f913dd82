import type { OutputDelta } from '@altstream/minimax-m3-chat';
import type { ChoiceStep } from '../../generation/choice.js';

/** A step that several were joined to. */
interface Held {
  readonly index: number;
  readonly deltas: OutputDelta[];
  readonly tokens: ChoiceStep['tokens'][number][];
  rest: Pick<ChoiceStep, 'prompt' | 'counts' | 'finish'>;
}

/**
 * What a token and each of its alternatives weigh beside their text, if log-probabilities are
 * wanted.
 */
const tokenBytes = 32;

/**
 * Steps that wait to be sent, joined to one for each choice: text to text, so that what was not
 * sent costs no more than itself, and becomes one delta.
 */
export class HeldSteps {
  readonly #interval: number;
  readonly #held = new Map<number, Held>();
  /** Choices that showed their first token. */
  readonly #begun = new Set<number>();
  #bytes = 0;

  /** @param interval tokens of a choice that are sent together, but for its first */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /** Bytes that are held, about. */
  get bytes(): number {
    return this.#bytes;
  }

  add({ index, deltas, tokens, prompt, counts, finish }: ChoiceStep): void {
    const held = this.#held.get(index) ?? { index, deltas: [], tokens: [], rest: {} };
    this.#held.set(index, held);
    for (const delta of deltas) this.#join(held.deltas, delta);
    held.tokens.push(...tokens);
    for (const { top } of tokens) this.#bytes += tokenBytes * (1 + top.length);
    const given = {
      ...(prompt && { prompt }),
      ...(counts && { counts }),
      ...(finish && { finish }),
    };
    held.rest = { ...held.rest, ...given };
  }

  /** Takes out what is to be sent now; with `all`, whatever there is. */
  take(all = false): ChoiceStep[] {
    const steps = [...this.#held.values()].filter((held) => all || this.#isDue(held));
    for (const { index } of steps) {
      this.#held.delete(index);
      this.#begun.add(index);
    }
    if (this.#held.size === 0) this.#bytes = 0;
    return steps.map(({ index, deltas, tokens, rest }) => ({ index, deltas, tokens, ...rest }));
  }

  #isDue({ index, deltas, tokens, rest }: Held): boolean {
    if (rest.finish) return true;
    const isFirst = !this.#begun.has(index) && deltas.length > 0;
    return isFirst || tokens.length >= this.#interval;
  }

  #join(deltas: OutputDelta[], delta: OutputDelta): void {
    const last = deltas.at(-1);
    if ('text' in delta) this.#bytes += Buffer.byteLength(delta.text);
    const isSame =
      last !== undefined &&
      last.type === delta.type &&
      'text' in last &&
      'text' in delta &&
      (!('index' in last) || !('index' in delta) || last.index === delta.index);
    if (isSame) deltas[deltas.length - 1] = { ...last, text: last.text + delta.text };
    else deltas.push(delta);
  }
}
