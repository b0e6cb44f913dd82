import { literal } from './literal.js';

/** Groups in groups, beyond which a rule has a name: the library takes no more by far. */
const mostDepth = 32;

/** A text, and what follows it in rules, if anything does. */
export interface Way {
  readonly text: string;
  readonly next?: string;
}

/**
 * One of several texts as a body of rules, which is decided letter by letter: of long lists of
 * alternatives that share their letters the library takes texts that are in none of them.
 *
 * @param add adds a rule and gives its name
 */
export function oneOf(ways: readonly (string | Way)[], add: (body: string) => string): string {
  const all = ways.map((way) => (typeof way === 'string' ? { text: way } : way));
  const group = (body: string, depth: number): string =>
    depth % mostDepth === mostDepth - 1 ? add(body) : `(${body})`;
  return branches(all, { literal, group, empty: '""', or: ' | ', space: ' ' }, 0).join(' | ');
}

/** Rules of one list alone, as a whole grammar. */
export function oneOfGrammar(texts: readonly string[]): string {
  const rules: string[] = [];
  const root = oneOf(texts, (body) => {
    const name = `r${rules.length}`;
    rules.push(`${name} ::= ${body}`);
    return name;
  });
  return [`root ::= ${root}`, ...rules].join('\n');
}

/**
 * One of several texts as a pattern that stands in a JSON schema for the library; undefined for
 * lists whose texts begin each other too often for it.
 */
export function oneOfPattern(texts: readonly string[]): string | undefined {
  let deepest = 0;
  const group = (body: string, depth: number): string => {
    deepest = Math.max(deepest, depth);
    return `(?:${body})`;
  };
  const notation = { literal: patternLiteral, group, empty: '', or: '|', space: '' };
  const ways = texts.map((text) => ({ text: JSON.stringify(text).slice(1, -1) }));
  const pattern = `(?:${branches(ways, notation, 0).join('|')})`;
  return deepest < mostDepth ? pattern : undefined;
}

function patternLiteral(text: string): string {
  return text.replaceAll(/[^\w\u0080-\uffff]/g, (character) => {
    if (character === '\\') return '\\\\';
    if (character === '"') return '["]';
    return `[\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}]`;
  });
}

/** How alternatives are written. */
interface Notation {
  readonly literal: (text: string) => string;
  readonly group: (body: string, depth: number) => string;
  readonly empty: string;
  readonly or: string;
  readonly space: string;
}

function branches(ways: readonly Way[], notation: Notation, depth: number): string[] {
  const byLetter = new Map<string, Way[]>();
  const ends = new Set<string>();
  for (const { text, next = notation.empty } of ways) {
    const [letter] = text;
    if (letter === undefined) ends.add(next);
    else {
      const group = byLetter.get(letter) ?? [];
      byLetter.set(letter, group);
      group.push({ text: text.slice(letter.length), next });
    }
  }
  const groups = Array.from(byLetter, ([letter, group]) => branch(letter, group, notation, depth));
  return [...groups, ...ends];
}

/** The ways behind a letter, and with it those that all of them have first. */
function branch(letter: string, group: readonly Way[], notation: Notation, depth: number): string {
  const size = sharedLength(group.map(({ text }) => text));
  const ways = group.map(({ text, ...way }) => ({ ...way, text: text.slice(size) }));
  const rest = branches(ways, notation, depth + 1);
  const begin = notation.literal(`${letter}${group[0]?.text.slice(0, size) ?? ''}`);
  const [only, other] = rest;
  if (other !== undefined) {
    return `${begin}${notation.space}${notation.group(rest.join(notation.or), depth)}`;
  }
  return only === undefined || only === notation.empty ? begin : `${begin}${notation.space}${only}`;
}

/** Units that all texts begin with; what the first and the last of their order share, all do. */
function sharedLength(texts: readonly string[]): number {
  let [first = '', last = ''] = [texts[0], texts[0]];
  for (const text of texts) {
    if (text < first) first = text;
    if (text > last) last = text;
  }
  let size = 0;
  while (size < first.length && first.charCodeAt(size) === last.charCodeAt(size)) size += 1;
  // Not between the halves of a pair.
  return /[\ud800-\udbff]/.test(first.charAt(size - 1)) ? size - 1 : size;
}
