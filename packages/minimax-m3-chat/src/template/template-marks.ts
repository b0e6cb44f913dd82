import { TemplateError } from '../errors/index.js';
import type { TextSpan } from '../text/text-span.js';

const privateUse = /[\uE000-\uF8FF]/;
const firstPrivate = 0xe000;
const lastPrivate = 0xf8ff;

/** Tokens of these alone are text, whoever wrote them. */
const isText = /^[\s"\\]*$/;

/** A rendered prompt. Only inside `templateSpans` a literal is a control token. */
export interface MarkedText {
  readonly text: string;
  /** Ascending, disjoint ranges of UTF-16 units that the template itself wrote. */
  readonly templateSpans: readonly TextSpan[];
}

/** True for an added token of white space, quotes and the like, which a request may write, too. */
export function isUnmarkable(text: string): boolean {
  return isText.test(text);
}

/**
 * Tells what a template wrote from what a request brought. Literals of the template that are, or
 * may become, the literal of a control token are written with other characters, one for one, that
 * nothing else has in it; `restore` takes those back and tells where they stood. Texts of a request
 * stay as they are: a template sees, cuts, measures and compares the real ones, and whatever it
 * makes of them has no such character and so is no control token.
 */
export class TemplateMarks {
  readonly #controlTexts: readonly string[];
  readonly #markOf = new Map<string, string>();
  readonly #plainOf = new Map<string, string>();
  readonly #marked = new Map<string, string>();
  readonly #any: RegExp;
  readonly #runs: RegExp;

  /**
   * @param controlTexts  literals of all added tokens
   * @param taken  characters that the request or the template has
   * @throws TemplateError `CHAT_TEMPLATE_INPUT` if too few characters are left
   */
  constructor(controlTexts: readonly string[], taken: ReadonlySet<string> = new Set()) {
    this.#controlTexts = controlTexts.filter((text) => !isUnmarkable(text));
    let code = firstPrivate;
    for (const unit of new Set(this.#controlTexts.join('').split(''))) {
      while (taken.has(String.fromCharCode(code))) code++;
      if (code > lastPrivate) throw tooManyTaken();
      const mark = String.fromCharCode(code++);
      this.#markOf.set(unit, mark);
      this.#plainOf.set(mark, unit);
    }
    const marks = `[${[...this.#plainOf.keys()].join('')}]`;
    const isEmpty = this.#plainOf.size === 0;
    this.#any = isEmpty ? /(?!)/ : new RegExp(marks);
    this.#runs = isEmpty ? /(?!)/g : new RegExp(`${marks}+`, 'g');
  }

  /** The characters of private use in all texts of a value, keys of objects included. */
  static takenBy(value: unknown, taken: Set<string> = new Set()): Set<string> {
    if (typeof value === 'string') {
      if (privateUse.test(value)) {
        for (const [character] of value.matchAll(new RegExp(privateUse, 'g'))) taken.add(character);
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        TemplateMarks.takenBy(key, taken);
        TemplateMarks.takenBy(item, taken);
      }
    }
    return taken;
  }

  /** The characters of private use that the text of a template has, or writes as escapes. */
  static takenIn(source: string): Set<string> {
    const escaped = source.replace(/\\u([\da-f]{4})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return TemplateMarks.takenBy([source, escaped]);
  }

  /** True if none of the characters is one that marks. */
  isFreeOf(taken: ReadonlySet<string>): boolean {
    return [...taken].every((character) => !this.#plainOf.has(character));
  }

  /** A literal of the template as it is rendered. */
  mark(literal: string): string {
    let marked = this.#marked.get(literal);
    if (marked === undefined) {
      marked = this.#isPieceOfControl(literal) ? this.#write(literal) : literal;
      this.#marked.set(literal, marked);
    }
    return marked;
  }

  /** True if a text has marks. */
  isMarked(text: string): boolean {
    return this.#any.test(text);
  }

  /** The text as it will be read. */
  plain(text: string): string {
    if (!this.isMarked(text)) return text;
    return text.replace(this.#runs, (run) => this.#read(run));
  }

  /**
   * `changed` with marks where that stands for marked characters.
   *
   * @param sizeOf  units of `changed` for a character, which is at `at` in the plain text
   */
  markLike(
    changed: string,
    marked: string,
    sizeOf: (character: string, at: number) => number,
  ): string {
    const units: string[] = [];
    let at = 0;
    for (const character of this.plain(marked)) {
      const last = at + character.length - 1;
      const end = units.length + sizeOf(character, at);
      for (let own = at; units.length < end; own++) {
        const unit = changed.charAt(units.length);
        const isMarked = this.#plainOf.has(marked.charAt(Math.min(own, last)));
        units.push(isMarked ? (this.#markOf.get(unit) ?? unit) : unit);
      }
      at = last + 1;
    }
    return units.join('');
  }

  /**
   * JSON that was written of marked texts as it is of plain ones. Marks that were escaped, as in
   * JSON without characters beyond ASCII, are marks again; those of characters that JSON escapes
   * are the escapes.
   */
  escapeLike(json: string): string {
    const unescaped = json.replace(/\\(?:u([\da-f]{4})|.)/g, (whole, hex: string | undefined) => {
      if (hex === undefined) return whole;
      const mark = String.fromCharCode(Number.parseInt(hex, 16));
      const unit = this.#plainOf.get(mark);
      if (unit === undefined) return whole;
      return unit < '\x7f' ? mark : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
    return unescaped.replace(this.#runs, (run) =>
      run
        .split('')
        .map((mark) => {
          const unit = this.#read(mark);
          const isEscaped = unit < ' ' || unit === '"' || unit === '\\';
          return isEscaped ? JSON.stringify(unit).slice(1, -1) : mark;
        })
        .join(''),
    );
  }

  /** Takes the marks out of a rendered text. */
  restore(rendered: string): MarkedText {
    const pieces: string[] = [];
    const templateSpans: TextSpan[] = [];
    let at = 0;
    for (const { 0: run, index } of rendered.matchAll(this.#runs)) {
      pieces.push(rendered.slice(at, index), this.#read(run));
      at = index + run.length;
      templateSpans.push({ start: index, end: at });
    }
    pieces.push(rendered.slice(at));
    return { text: pieces.join(''), templateSpans };
  }

  #write(text: string): string {
    return translate(text, this.#markOf);
  }

  #read(text: string): string {
    return translate(text, this.#plainOf);
  }

  /** True if the text holds a control literal, or a piece of one that others may complete. */
  #isPieceOfControl(text: string): boolean {
    if (text === '') return false;
    return this.#controlTexts.some(
      (control) => text.includes(control) || control.includes(text) || borders(text, control),
    );
  }
}

function translate(text: string, to: ReadonlyMap<string, string>): string {
  return Array.from({ length: text.length }, (_, at) => text.charAt(at))
    .map((unit) => to.get(unit) ?? unit)
    .join('');
}

function borders(text: string, control: string): boolean {
  for (let size = Math.min(control.length - 1, text.length); size > 0; size--) {
    if (text.endsWith(control.slice(0, size)) || text.startsWith(control.slice(-size))) return true;
  }
  return false;
}

function tooManyTaken(): TemplateError {
  return new TemplateError(
    'CHAT_TEMPLATE_INPUT',
    'render: the messages have nearly all characters of private use (U+E000 to U+F8FF), and some ' +
      'are needed to render them; take some out',
  );
}
