import { randomBytes } from 'node:crypto';
import { TemplateError } from '../errors/index.js';
import type { TextSpan } from '../text/text-span.js';

const maxDepth = 128;

/** So many characters of a random word in a text are its remains and no accident. */
const tellingLength = 8;

/** A rendered prompt. Inside `userSpans` no literal is a control token. */
export interface FencedText {
  readonly text: string;
  /** Ascending, disjoint ranges of UTF-16 units that came from the user. */
  readonly userSpans: readonly TextSpan[];
}

/**
 * Follows user-supplied text through a template. Strings that could take part in the literal of a
 * control token are wrapped into two random words before rendering; `remove` takes the words out
 * again and tells where the text lay. All other strings stay as they are, so that the template
 * sees, and the tokenizer merges, exactly what they would without a fence.
 */
export class UserTextFence {
  readonly #controlTexts: readonly string[];
  readonly #word: string;
  readonly #begin: string;
  readonly #end: string;
  #isUsed = false;

  /** @param controlTexts literals of all added tokens */
  constructor(controlTexts: readonly string[]) {
    const word = randomBytes(12).toString('hex');
    this.#controlTexts = controlTexts;
    this.#word = word;
    this.#begin = `q${word}b`;
    this.#end = `q${word}e`;
  }

  /**
   * A copy of `value` with every dangerous string fenced, keys of objects included.
   * @param plainKeys keys of the messages themselves whose values the template compares (`role`)
   */
  wrap(value: unknown, plainKeys: ReadonlySet<string> = new Set(), depth = 0): unknown {
    if (typeof value === 'string') return this.#wrapText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) {
      throw new TemplateError(
        'CHAT_TEMPLATE_INPUT',
        `render: a message, tool or argument is nested deeper than ${maxDepth}; flatten it`,
      );
    }
    if (Array.isArray(value)) return value.map((item) => this.wrap(item, plainKeys, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        this.#wrapText(key),
        depth <= 1 && plainKeys.has(key) ? item : this.wrap(item, plainKeys, depth + 1),
      ]),
    );
  }

  /**
   * Takes the fence out of a rendered text.
   * @throws TemplateError `CHAT_TEMPLATE_FENCE` if the template changed a fenced string, or cut it
   * apart
   */
  remove(rendered: string): FencedText {
    const pieces: string[] = [];
    const userSpans: TextSpan[] = [];
    const words = new RegExp(`${this.#begin}|${this.#end}`, 'g');
    let length = 0;
    let at = 0;
    let start = -1;
    for (const { 0: word, index } of rendered.matchAll(words)) {
      pieces.push(rendered.slice(at, index));
      length += index - at;
      at = index + word.length;
      const begins = word === this.#begin;
      if (begins === start >= 0) throw cutApart();
      if (!begins) userSpans.push({ start, end: length });
      start = begins ? length : -1;
    }
    if (start >= 0) throw cutApart();
    pieces.push(rendered.slice(at));
    const text = pieces.join('');
    if (this.#isUsed && this.#isLeftIn(text)) throw cutApart();
    return { text, userSpans };
  }

  /** True if a piece of the word is in the text: upper case, replaced letters, backwards. */
  #isLeftIn(text: string): boolean {
    const plain = text.toLowerCase();
    return [this.#word, [...this.#word].reverse().join('')].some((word) =>
      Array.from({ length: word.length - tellingLength + 1 }, (_, at) =>
        word.slice(at, at + tellingLength),
      ).some((piece) => plain.includes(piece)),
    );
  }

  /** Outer white space stays outside the fence: templates trim it. */
  #wrapText(text: string): string {
    const core = text.trim();
    if (core === '' || !this.#isDangerous(core)) return text;
    this.#isUsed = true;
    const at = text.indexOf(core);
    return text.slice(0, at) + this.#begin + core + this.#end + text.slice(at + core.length);
  }

  /** True if the text holds a control literal, or a piece of one that the template may complete. */
  #isDangerous(text: string): boolean {
    return this.#controlTexts.some(
      (control) => text.includes(control) || control.includes(text) || borders(text, control),
    );
  }
}

function borders(text: string, control: string): boolean {
  for (let size = Math.min(control.length - 1, text.length); size > 0; size--) {
    if (text.endsWith(control.slice(0, size)) || text.startsWith(control.slice(-size))) return true;
  }
  return false;
}

function cutApart(): TemplateError {
  return new TemplateError(
    'CHAT_TEMPLATE_FENCE',
    'render: the template changes or cuts text that holds a control token literal or a piece of ' +
      'one, so it cannot be told from the template; take that out of the message, or use a ' +
      'template that leaves texts as they are',
  );
}
