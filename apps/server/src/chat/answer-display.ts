import type { AnswerDelta, ChatAnswer } from '../client/chat-answer.js';
import { counted } from '../client/counted.js';
import { decodeSpeed } from '../client/decode-speed.js';
import { printable } from '../client/printable.js';

/** How thoughts are shown: dimmed as they come, as one line with their length, or not at all. */
export type ThoughtStyle = 'shown' | 'folded' | 'hidden';

/** A stream to write to, which may be a terminal. */
export interface TextOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
  /** Node's terminals know whether colours are wanted (`NO_COLOR`). */
  hasColors?(): boolean;
}

/** Where a chat writes: answers and calls to one stream, everything about them to the other. */
export interface ChatOutput {
  readonly answers: TextOutput;
  readonly notes: TextOutput;
}

type Part = 'none' | 'thought' | 'content' | 'call';

/** Shows one answer while it comes. Only answers and tool calls go to the first stream. */
export class AnswerDisplay {
  readonly #out: ChatOutput;
  readonly #thoughts: ThoughtStyle;
  readonly #started = performance.now();
  #part: Part = 'none';
  #thoughtCharacters = 0;

  constructor(out: ChatOutput, thoughts: ThoughtStyle) {
    this.#out = out;
    this.#thoughts = thoughts;
  }

  /** Takes the next piece. */
  show(delta: AnswerDelta): void {
    switch (delta.type) {
      case 'reasoning':
        this.#begin('thought');
        this.#showThought(delta.text);
        break;
      case 'content':
        this.#begin('content');
        this.#answer(delta.text);
        break;
      case 'call-start':
        this.#end();
        this.#begin('call');
        this.#answer(`→ ${delta.name} `);
        break;
      case 'call-arguments':
        this.#answer(delta.text);
        break;
    }
  }

  /** Ends the answer's last line, without a word on how it went. */
  end(): void {
    this.#end();
  }

  /** Ends the answer, and says how fast it came. */
  finish(answer: ChatAnswer): void {
    if (this.#part === 'none') this.note('(an empty answer)');
    this.#end();
    this.note(speedSentence(answer));
    if (answer.finishReason === 'length') this.note('[cut off by the limit of tokens]');
  }

  /** Writes a line about the answer. */
  note(text: string): void {
    this.#out.notes.write(`${dim(printable(text), this.#out.notes)}\n`);
  }

  /** Programs get the answer as it is. */
  #answer(text: string): void {
    const { answers } = this.#out;
    answers.write(answers.isTTY ? printable(text) : text);
  }

  #begin(part: Part): void {
    if (this.#part === part) return;
    this.#end();
    this.#part = part;
    if (part === 'thought' && this.#thoughts === 'folded' && this.#out.notes.isTTY) {
      this.#out.notes.write(dim('thinking …', this.#out.notes));
    }
  }

  #showThought(text: string): void {
    this.#thoughtCharacters += text.length;
    if (this.#thoughts === 'shown') this.#out.notes.write(dim(printable(text), this.#out.notes));
  }

  #end(): void {
    const part = this.#part;
    this.#part = 'none';
    if (part === 'content' || part === 'call') this.#out.answers.write('\n');
    if (part !== 'thought' || this.#thoughts === 'hidden') return;
    if (this.#thoughts === 'shown') this.#out.notes.write('\n');
    else this.#fold();
  }

  #fold(): void {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(1);
    if (this.#out.notes.isTTY) this.#out.notes.write('\r\u001b[K');
    this.note(`thought for ${seconds} s, ${this.#thoughtCharacters} characters`);
  }
}

/** Grey on terminals that have colours. */
export function dim(text: string, output: TextOutput): string {
  const isColoured = output.isTTY && (output.hasColors?.() ?? true);
  return isColoured ? `\u001b[2m${text}\u001b[0m` : text;
}

function speedSentence(answer: ChatAnswer): string {
  const { completionTokens, timing } = answer;
  const speed = decodeSpeed(answer);
  return `[${[
    completionTokens === undefined ? 'tokens not counted' : counted(completionTokens, 'token'),
    ...(speed === undefined ? [] : [`${speed.toFixed(1)} tokens/s`]),
    ...(timing.firstMs === undefined ? [] : [`first after ${Math.round(timing.firstMs)} ms`]),
    `${(timing.totalMs / 1000).toFixed(2)} s`,
  ].join(', ')}]`;
}
