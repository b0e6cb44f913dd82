import type { Environment } from '@huggingface/jinja';
import {
  arrayValue,
  isArray,
  isFunction,
  isString,
  type RuntimeValue,
  type StringValue,
  stringValue,
} from './jinja-values.js';
import type { TemplateMarks } from './template-marks.js';

/** Methods that change letters, and how many units they make of a character at a place. */
const caseMethods: ReadonlyMap<string, (character: string, at: number) => number> = new Map([
  ['upper', (character) => character.toUpperCase().length],
  ['lower', (character) => character.toLowerCase().length],
  ['title', (character) => character.length],
  ['capitalize', (character, at) => (at === 0 ? character.toUpperCase().length : character.length)],
]);
const trimMethods: ReadonlySet<string> = new Set(['strip', 'lstrip', 'rstrip']);

/** Methods of texts as the template means them: by what is written there, marks or not. */
export class MarkedStrings {
  readonly #marks: TemplateMarks;

  constructor(marks: TemplateMarks) {
    this.#marks = marks;
  }

  /** True for a method that looks at characters. */
  hasMethod(name: string): boolean {
    return trimMethods.has(name) || isFilterAndMethod(name);
  }

  /** True for a filter of texts that is a method, too. */
  hasFilter(name: string, args: readonly unknown[] = []): boolean {
    return (name === 'trim' && args.length === 0) || isFilterAndMethod(name);
  }

  /** What any other filter works on: the characters that it looks at are plain. */
  readBy(filter: string, operand: RuntimeValue): RuntimeValue {
    if (filter === 'int' || filter === 'float') return this.plain(operand);
    if (filter !== 'indent' || !isString(operand)) return operand;
    const lines = this.#marks.plain(operand.value).split('\n').map(stringValue);
    const pieces = partsBetween(operand.value, lines, 1);
    return stringValue(pieces.map(({ value }) => value).join('\n'));
  }

  /** A text, or a list of texts, without marks. */
  plain(value: RuntimeValue): RuntimeValue {
    if (isString(value)) {
      return this.#marks.isMarked(value.value)
        ? stringValue(this.#marks.plain(value.value))
        : value;
    }
    if (!isArray(value)) return value;
    const isMarked = (item: RuntimeValue): boolean =>
      isString(item) && this.#marks.isMarked(item.value);
    return value.value.some(isMarked)
      ? arrayValue(value.value.map((item) => this.plain(item)))
      : value;
  }

  /** Calls what {@link hasMethod} or {@link hasFilter} knows. */
  call(
    name: string,
    receiver: StringValue,
    args: readonly RuntimeValue[],
    scope: Environment,
  ): RuntimeValue {
    const plainArgs = args.map((one) => this.plain(one));
    const [wanted, replacement] = args;
    const method = this.plain(receiver).builtins.get(name === 'trim' ? 'strip' : name);
    if (!isFunction(method)) throw new Error(`Unknown method of a text: ${name}`);
    if (name === 'replace' && isString(wanted) && isString(replacement)) {
      const rest = plainArgs.slice(2);
      return this.#replace(receiver, [plainArgs[0] as StringValue, replacement, ...rest], scope);
    }
    const result = method.value(plainArgs, scope);
    if (!this.#marks.isMarked(receiver.value)) return result;
    const sizeOf = caseMethods.get(name);
    if (isString(result)) {
      return stringValue(
        sizeOf
          ? this.#marks.markLike(result.value, receiver.value, sizeOf)
          : this.#trimmed(name, receiver.value, result.value.length),
      );
    }
    if (name !== 'split' || !isArray(result)) return result;
    const [separator] = plainArgs;
    const parts = result.value as readonly StringValue[];
    return arrayValue(
      isString(separator)
        ? partsBetween(receiver.value, parts, separator.value.length)
        : this.#words(receiver.value, parts),
    );
  }

  #trimmed(name: string, marked: string, length: number): string {
    const text = this.#marks.plain(marked);
    const start = name === 'rstrip' ? 0 : text.length - text.trimStart().length;
    return marked.slice(start, start + length);
  }

  /** Only white space stands between words, so the first place is theirs. */
  #words(marked: string, words: readonly StringValue[]): RuntimeValue[] {
    const text = this.#marks.plain(marked);
    let at = 0;
    return words.map(({ value: word }) => {
      const found = text.indexOf(word, at);
      at = found + word.length;
      return stringValue(marked.slice(found, at));
    });
  }

  /** What is replaced is found by its plain text; what stays, and what comes, keeps its marks. */
  #replace(
    { value: marked, builtins }: StringValue,
    [wanted, replacement, ...count]: readonly [StringValue, StringValue, ...RuntimeValue[]],
    scope: Environment,
  ): RuntimeValue {
    const method = builtins.get('replace');
    if (isFunction(method) && (wanted.value === '' || !this.#marks.isMarked(marked))) {
      return method.value([wanted, replacement, ...count], scope);
    }
    const most = countOf(count[0]);
    const gaps = this.#marks.plain(marked).split(wanted.value).map(stringValue);
    const pieces = partsBetween(marked, gaps, wanted.value.length);
    let at = 0;
    const parts = pieces.map(({ value: piece }, index) => {
      at += piece.length + (index === 0 ? 0 : wanted.value.length);
      if (index === 0) return piece;
      const end = at - piece.length;
      const own = marked.slice(end - wanted.value.length, end);
      return (index <= most ? replacement.value : own) + piece;
    });
    return stringValue(parts.join(''));
  }
}

function isFilterAndMethod(name: string): boolean {
  return caseMethods.has(name) || ['startswith', 'endswith', 'split', 'replace'].includes(name);
}

/** The parts of a split text, as they stand in the marked one. */
function partsBetween(
  marked: string,
  parts: readonly StringValue[],
  separatorLength: number,
): StringValue[] {
  let at = 0;
  return parts.map(({ value: { length } }) => {
    const part = stringValue(marked.slice(at, at + length));
    at += length + separatorLength;
    return part;
  });
}

/** How often `replace` replaces: its third argument, or `count`. */
function countOf(given: RuntimeValue | undefined): number {
  const value =
    given?.type === 'KeywordArgumentsValue'
      ? (given.value as ReadonlyMap<string, RuntimeValue>).get('count')?.value
      : given?.value;
  return typeof value === 'number' && value >= 0 ? value : Number.POSITIVE_INFINITY;
}
