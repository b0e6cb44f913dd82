import { anyPoint, type CodePoints, complement, intersection, namedPoints } from './code-points.js';

/** How a pattern's text is written where it matches. */
export type PatternPlace = 'plain' | 'json';

/** Characters that a pattern's sets never stand for, and that it may not have itself. */
export interface Forbidden {
  readonly inSets?: CodePoints;
  readonly alone?: CodePoints;
}

/** Inside a JSON text these are written as escapes. */
const jsonEscapes = new Map([
  [0x22, '"'],
  [0x5c, '\\\\'],
  [0x08, 'b'],
  [0x0c, 'f'],
  [0x0a, 'n'],
  [0x0d, 'r'],
  [0x09, 't'],
]);
const jsonPlain = complement([
  [0x00, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
]);
const namedControls = new Map(
  Object.entries({ n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b, f: 0x0c, '0': 0 }),
);

const namedSets: ReadonlySet<CodePoints> = new Set([anyPoint, ...namedPoints.values()]);
const ascii: CodePoints = [[0, 0x7f]];
const upper = complement(ascii);
const upperCount = 0x110000 - 0x80 - 0x800;
const mostSingles = 256;

/**
 * Writes a regular expression in a way that the grammar library understands to the letter: anchors
 * are taken off, since it matches whole texts; sets are written out, since it gets complements
 * beyond ASCII wrong; and, within JSON, what must be escaped there is.
 *
 * @throws PatternProblem in words for the pattern's author
 */
export function rewritePattern(
  pattern: string,
  place: PatternPlace,
  forbidden: Forbidden = {},
): string {
  return new Rewriter(pattern, place, forbidden).all();
}

/** Why a pattern cannot be enforced. */
export class PatternProblem extends Error {}

class Rewriter {
  readonly #points: readonly string[];
  readonly #place: PatternPlace;
  readonly #forbidden: Forbidden;
  /** What is not forbidden in sets. */
  readonly #possible: CodePoints;
  readonly #named = new Map<CodePoints, string>();
  #at = 0;
  #depth = 0;

  constructor(pattern: string, place: PatternPlace, forbidden: Forbidden) {
    this.#points = Array.from(pattern);
    this.#place = place;
    this.#forbidden = forbidden;
    this.#possible = complement(forbidden.inSets ?? []);
  }

  all(): string {
    let text = '';
    let isStart = true;
    while (this.#at < this.#points.length) {
      const one = this.#take();
      if (one === '^' || one === '$') {
        this.#checkAnchor(one, isStart);
        continue;
      }
      isStart = one === '|' && this.#depth === 0;
      text += this.#item(one);
    }
    if (this.#depth > 0) throw new PatternProblem('a parenthesis is not closed');
    return `(?:${text})`;
  }

  #item(one: string): string {
    if (one === '(') {
      this.#depth += 1;
      return `(${this.#groupHead()}`;
    }
    if (one === ')') {
      this.#depth -= 1;
      if (this.#depth < 0) throw new PatternProblem('a parenthesis is closed that was not opened');
      return one;
    }
    if (one === '.') return this.#set(anyPoint);
    if (one === '[') return this.#class();
    if (one === '\\') return this.#escape();
    if ('*+?|{}'.includes(one)) return one;
    const point = one.codePointAt(0) ?? 0;
    // Most characters stand for themselves.
    if (/[\w ,:;>=!#%&@~`'/-]/.test(one) || one > '\x7f') return one;
    return this.#set([[point, point]]);
  }

  #checkAnchor(anchor: string, isStart: boolean): void {
    const next = this.#points[this.#at];
    const isEnd = next === undefined || next === '|';
    if (this.#depth === 0 && (anchor === '^' ? isStart : isEnd)) return;
    throw new PatternProblem(
      `\`${anchor}\` is supported at the ${anchor === '^' ? 'beginning' : 'end'} only`,
    );
  }

  /** `?:`, a name or a look-around; the last is for the library to refuse. */
  #groupHead(): string {
    if (this.#points[this.#at] !== '?') return '';
    const rest = this.#points.slice(this.#at, this.#at + 64).join('');
    const head = /^\?(?::|<?[=!]|<[A-Za-z_]\w*>)/.exec(rest)?.[0];
    if (!head) throw new PatternProblem(`\`(${rest.slice(0, 3)}\` is not supported`);
    this.#at += head.length;
    return head.startsWith('?<') && head.endsWith('>') ? '' : head;
  }

  #escape(): string {
    const letter = this.#points[this.#at] ?? '';
    if (/[bBkpP1-9]/.test(letter)) {
      throw new PatternProblem(`\`\\${letter}\` is not supported`);
    }
    return this.#set(this.#escaped());
  }

  /** What the escape at this place stands for. */
  #escaped(): CodePoints {
    const letter = this.#take();
    const named = namedPoints.get(letter);
    if (named) return named;
    const point = this.#escapedPoint(letter);
    return [[point, point]];
  }

  #escapedPoint(letter: string): number {
    const control = namedControls.get(letter);
    if (control !== undefined) return control;
    if (letter === 'c') return (this.#take().codePointAt(0) ?? 0) & 31;
    if (letter === 'x') return this.#hexadecimal(/^[\da-fA-F]{2}/);
    if (letter !== 'u') return letter.codePointAt(0) ?? 0;
    if (this.#points[this.#at] === '{') return this.#hexadecimal(/^\{([\da-fA-F]{1,6})\}/);
    const high = this.#hexadecimal(/^[\da-fA-F]{4}/);
    if (high < 0xd800 || high > 0xdfff) return high;
    const low = this.#hexadecimal(/^\\u([dD][c-fC-F][\da-fA-F]{2})/);
    return String.fromCharCode(high, low).codePointAt(0) ?? 0;
  }

  #hexadecimal(form: RegExp): number {
    const found = form.exec(this.#points.slice(this.#at, this.#at + 8).join(''));
    const point = Number.parseInt(found?.[1] ?? found?.[0] ?? '', 16);
    if (!found || point > 0x10ffff) throw new PatternProblem('an escape is not complete');
    this.#at += found[0].length;
    return point;
  }

  #class(): string {
    const isNegative = this.#points[this.#at] === '^';
    if (isNegative) this.#at += 1;
    const points: (readonly [number, number])[] = [];
    while (this.#points[this.#at] !== ']') {
      const first = this.#member();
      const [from] = first[0] ?? [0];
      const isRange = this.#points[this.#at] === '-' && this.#points[this.#at + 1] !== ']';
      if (!isRange || !isOne(first)) {
        points.push(...first);
        continue;
      }
      this.#at += 1;
      const end = this.#member();
      const [to] = end[0] ?? [0];
      if (!isOne(end) || to < from) throw new PatternProblem('a range in `[]` is out of order');
      points.push([from, to]);
    }
    this.#at += 1;
    return this.#set(isNegative ? complement(points) : points);
  }

  #member(): CodePoints {
    const one = this.#take();
    if (one !== '\\') {
      const point = one.codePointAt(0) ?? 0;
      return [[point, point]];
    }
    const letter = this.#points[this.#at] ?? '';
    if (letter === 'b') {
      this.#at += 1;
      return [[0x08, 0x08]];
    }
    if (/[BkpP1-9]/.test(letter)) {
      throw new PatternProblem(`\`\\${letter}\` is not supported in \`[]\``);
    }
    return this.#escaped();
  }

  /** One character of a set, as it is written in this place. */
  #set(given: CodePoints): string {
    // Those that have a name are written again and again.
    if (!namedSets.has(given)) return this.#written(given);
    const text = this.#named.get(given) ?? this.#written(given);
    this.#named.set(given, text);
    return text;
  }

  #written(given: CodePoints): string {
    const points = this.#allowed(given);
    // Most sets are one character that is written alike everywhere.
    if (isOne(points) && points.every(isPrintable)) return `[${rangesOf(points)}]`;
    if (this.#place === 'plain') return classOf(points);
    const plain = intersection(points, jsonPlain);
    const escapes = [...jsonEscapes].filter(([point]) => has(points, point));
    const written = escapes.map(([, text]) => text).join('');
    if (plain.length === 0 && written === '') {
      throw new PatternProblem('a set has no character that JSON can show');
    }
    if (written === '') return classOf(plain);
    const escaped = `\\\\[${written}]`;
    return plain.length === 0 ? `(?:${escaped})` : `(?:${classOf(plain)}|${escaped})`;
  }

  #allowed(given: CodePoints): CodePoints {
    const { inSets = [], alone = [] } = this.#forbidden;
    const [point = 0] = given[0] ?? [];
    if (isOne(given) && has(alone, point)) {
      const character = String.fromCodePoint(point);
      throw new PatternProblem(`\`${character}\` cannot stand in it there`);
    }
    if (isOne(given) || inSets.length === 0) return given;
    const rest = intersection(given, this.#possible);
    if (rest.length > 0) return rest;
    throw new PatternProblem('a set has no character that can stand there');
  }

  #take(): string {
    const one = this.#points[this.#at];
    if (one === undefined) throw new PatternProblem('it ends in the middle of something');
    this.#at += 1;
    return one;
  }
}

function isOne(points: CodePoints): boolean {
  return points.length === 1 && points[0]?.[0] === points[0]?.[1];
}

/** True for a letter or sign of ASCII that JSON writes as it is. */
function isPrintable([point]: readonly [number, number]): boolean {
  return point >= 0x20 && point < 0x7f && !jsonEscapes.has(point);
}

function has(points: CodePoints, point: number): boolean {
  return points.some(([from, to]) => from <= point && point <= to);
}

/** Beyond ASCII the library can say "all" and single characters. */
function classOf(points: CodePoints): string {
  const low = intersection(points, ascii);
  const high = intersection(points, upper);
  const count = high.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (count === upperCount) {
    const without = intersection(complement(low), ascii);
    if (without.length > 0) return `[^${rangesOf(without)}]`;
    return `(?:[${rangesOf(low)}]|[^${rangesOf(ascii)}])`;
  }
  if (count > mostSingles) {
    const problem = `a set of more than ${mostSingles} characters beyond ASCII, but not of all`;
    throw new PatternProblem(`${problem}, is not supported`);
  }
  const singles = high.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)),
  );
  const parts = low.length === 0 ? singles : [`[${rangesOf(low)}]`, ...singles];
  if (parts.length === 0) throw new PatternProblem('`[]` has no character');
  return parts.length === 1 ? (parts[0] ?? '') : `(?:${parts.join('|')})`;
}

function rangesOf(points: CodePoints): string {
  const write = (point: number): string => `\\x${point.toString(16).padStart(2, '0')}`;
  const ranges = points.map(([from, to]) =>
    from === to ? write(from) : `${write(from)}-${write(to)}`,
  );
  return ranges.join('');
}
