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

/** Change letters one by one, as a rule. */
const caseMethods: ReadonlySet<string> = new Set(['upper', 'lower', 'title', 'capitalize']);

/** Methods of texts as the template means them: by what is written there, marks or not. */
export class MarkedStrings {
  readonly #marks: TemplateMarks;

  constructor(marks: TemplateMarks) {
    this.#marks = marks;
  }

  /** True for a method or filter that looks at characters. */
  hasMethod(name: string): boolean {
    return caseMethods.has(name) || ['startswith', 'endswith', 'split', 'replace'].includes(name);
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

  /** Calls a method for which {@link hasMethod} is true. */
  call(
    name: string,
    receiver: StringValue,
    args: readonly RuntimeValue[],
    scope: Environment,
  ): RuntimeValue {
    const plainArgs = args.map((one) => this.plain(one));
    const [wanted, replacement] = args;
    const method = this.plain(receiver).builtins.get(name);
    if (!isFunction(method)) throw new Error(`Unknown method of a text: ${name}`);
    if (name === 'replace' && isString(wanted) && isString(replacement)) {
      const rest = plainArgs.slice(2);
      return this.#replace(receiver, [plainArgs[0] as StringValue, replacement, ...rest], scope);
    }
    const result = method.value(plainArgs, scope);
    if (!this.#marks.isMarked(receiver.value)) return result;
    if (caseMethods.has(name) && isString(result)) {
      return stringValue(this.#marks.markLike(result.value, receiver.value));
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
