import { literal } from '../literal.js';

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
  const all = sorted(ways.map((way) => (typeof way === 'string' ? { text: way } : way)));
  const group = (body: string, depth: number): string =>
    depth % mostDepth === mostDepth - 1 ? add(body) : `(${body})`;
  const notation = { literal, group, empty: '""', or: ' | ', space: ' ' };
  return branches(all, notation, 0).join(' | ');
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
  const ways = sorted(texts.map((text) => ({ text: JSON.stringify(text).slice(1, -1) })));
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

/** All ways in the order of their texts, in which those that begin alike are neighbours. */
function sorted(ways: readonly Way[]): Stretch {
  const order = [...ways].sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
  return { ways: order, from: 0, to: order.length, at: 0 };
}

/** Ways in the order of their texts, between two places of that list, behind so many letters. */
interface Stretch {
  readonly ways: readonly Way[];
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

function branches(stretch: Stretch, notation: Notation, depth: number): string[] {
  const { ways, to, at } = stretch;
  const ends = new Set<string>();
  let { from } = stretch;
  // The shortest come first: those that are at their end.
  for (; from < to && ways[from]?.text.length === at; from += 1) {
    ends.add(ways[from]?.next ?? notation.empty);
  }
  const groups: string[] = [];
  while (from < to) {
    const letter = ways[from]?.text.codePointAt(at);
    const begin = from;
    while (from < to && ways[from]?.text.codePointAt(at) === letter) from += 1;
    groups.push(branch({ ways, from: begin, to: from, at }, notation, depth));
  }
  return [...groups, ...ends];
}

/** The ways that have a letter there, and with it those that all of them have next. */
function branch({ ways, from, to, at }: Stretch, notation: Notation, depth: number): string {
  const { text = '' } = ways[from] ?? {};
  const letter = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const end = sharedEnd(text, ways[to - 1]?.text ?? '', at + letter.length);
  const rest = branches({ ways, from, to, at: end }, notation, depth + 1);
  const begin = notation.literal(text.slice(at, end));
  const [only, other] = rest;
  if (other !== undefined) {
    return `${begin}${notation.space}${notation.group(rest.join(notation.or), depth)}`;
  }
  return only === undefined || only === notation.empty ? begin : `${begin}${notation.space}${only}`;
}

/** Where two texts part, which are alike so far: all between them in their order are, too. */
function sharedEnd(first: string, last: string, at: number): number {
  let end = at;
  while (end < first.length && first.charCodeAt(end) === last.charCodeAt(end)) end += 1;
  // Not between the halves of a pair.
  return end > at && /[\ud800-\udbff]/.test(first.charAt(end - 1)) ? end - 1 : end;
}
