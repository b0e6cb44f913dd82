import { controlTexts } from './text/control-texts.js';
import { heldLength } from './text/held-text.js';

const { thinkOpen, thinkClose, namespace } = controlTexts;
/** White space that may stand before a leading think marker; more is content. */
const maxLeadingSpace = 64;

/** Where the model's output begins: after a prefilled `<mm:think>`, or not. */
export type ReasoningStart = 'inside' | 'outside';

/** A piece of thoughts or of everything else. */
export interface ReasoningPiece {
  readonly kind: 'reasoning' | 'content';
  readonly text: string;
}

/**
 * Whether the model's output begins inside thoughts. Looks at the end of the prompt only: system
 * texts contain the markers too.
 * @param promptText the rendered prompt, or its last characters
 */
export function reasoningStartOf(promptText: string): ReasoningStart {
  return promptText.endsWith(thinkOpen) ? 'inside' : 'outside';
}

/**
 * Separates thoughts from the rest while text arrives. Thoughts end at `</mm:think>` or at a
 * namespace marker (a tool call without a closer). Outside, a leading `<mm:think>` begins
 * thoughts and one stray leading `</mm:think>` is dropped. Newlines behind a closer are dropped.
 */
export class ReasoningParser {
  #state: 'leading-outside' | 'leading-inside' | 'reasoning' | 'closed' | 'content';
  #held = '';
  #hasImpliedEnd = false;

  constructor(start: ReasoningStart) {
    this.#state = start === 'inside' ? 'leading-inside' : 'leading-outside';
  }

  /** True if thoughts ended without their closer, at a namespace marker. */
  get hasImpliedEnd(): boolean {
    return this.#hasImpliedEnd;
  }

  /** The pieces that are certain after more text. */
  push(text: string): ReasoningPiece[] {
    return this.#scan(this.#held + text, false);
  }

  /** The rest. Thoughts that never ended stay thoughts. */
  finish(): ReasoningPiece[] {
    return this.#scan(this.#held, true);
  }

  #scan(text: string, isEnd: boolean): ReasoningPiece[] {
    const pieces: ReasoningPiece[] = [];
    let rest: string | null = text;
    while (rest !== null && rest !== '') rest = this.#step(rest, isEnd, pieces);
    if (text === '' || rest === '') this.#held = '';
    return pieces.filter((piece) => piece.text !== '');
  }

  /** Handles the begin of `text` in the current state; null = wait for more (`#held`). */
  #step(text: string, isEnd: boolean, pieces: ReasoningPiece[]): string | null {
    switch (this.#state) {
      case 'leading-outside':
      case 'leading-inside':
        return this.#leading(text, isEnd);
      case 'reasoning':
        return this.#reasoning(text, isEnd, pieces);
      case 'closed': {
        const content = text.replace(/^[\r\n]+/, '');
        if (content !== '') this.#state = 'content';
        return content;
      }
      case 'content':
        pieces.push({ kind: 'content', text });
        return '';
    }
  }

  /** The first characters decide; white space before a marker is dropped, else it is text. */
  #leading(text: string, isEnd: boolean): string | null {
    const isInside = this.#state === 'leading-inside';
    const space = /^\s*/.exec(text)?.[0].length ?? 0;
    const word = text.slice(space);
    const markers = isInside ? [thinkOpen] : [thinkOpen, thinkClose];
    const marker = markers.find((candidate) => word.startsWith(candidate));
    if (space > maxLeadingSpace || marker === undefined) {
      const isOpen = markers.some((candidate) => candidate.startsWith(word));
      if (isOpen && !isEnd && space <= maxLeadingSpace) {
        this.#held = text;
        return null;
      }
      this.#state = isInside ? 'reasoning' : 'content';
      return text;
    }
    this.#state = marker === thinkOpen ? 'reasoning' : 'closed';
    return word.slice(marker.length);
  }

  #reasoning(text: string, isEnd: boolean, pieces: ReasoningPiece[]): string | null {
    const ends = [text.indexOf(thinkClose), text.indexOf(namespace)].map((at) =>
      at < 0 ? Number.POSITIVE_INFINITY : at,
    );
    const [close = 0, marker = 0] = ends;
    const at = Math.min(close, marker);
    if (at === Number.POSITIVE_INFINITY) {
      const cut = text.length - (isEnd ? 0 : heldLength(text, [thinkClose, namespace]));
      pieces.push({ kind: 'reasoning', text: text.slice(0, cut) });
      this.#held = text.slice(cut);
      return this.#held === '' ? '' : null;
    }
    pieces.push({ kind: 'reasoning', text: text.slice(0, at) });
    this.#state = close < marker ? 'closed' : 'content';
    this.#hasImpliedEnd = marker < close;
    return close < marker ? text.slice(at + thinkClose.length) : text.slice(at);
  }
}
