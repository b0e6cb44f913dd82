import { literal } from './literal.js';

/** A text, and what follows it in rules, if anything does. */
export interface Way {
  readonly text: string;
  readonly next?: string;
}

/** Groups in groups, beyond which a rule has a name: the library takes no more by far. */
const mostDepth = 32;

/**
 * One of several texts as a body of rules, which is decided letter by letter: of long lists of
 * alternatives that share their letters the library takes texts that are in none of them.
 *
 * @param add adds a rule and gives its name
 */
export function oneOf(ways: readonly (string | Way)[], add: (body: string) => string): string {
  const all = ways.map((way) => (typeof way === 'string' ? { text: way } : way));
  return branches(all, { add, depth: 0 }).join(' | ');
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

interface Place {
  readonly add: (body: string) => string;
  readonly depth: number;
}

function branches(ways: readonly Way[], place: Place): string[] {
  const byLetter = new Map<string, Way[]>();
  const ends = new Set<string>();
  for (const { text, next = '' } of ways) {
    const [letter] = text;
    if (letter === undefined) ends.add(next === '' ? '""' : next);
    else {
      const group = byLetter.get(letter) ?? [];
      byLetter.set(letter, group);
      group.push({ text: text.slice(letter.length), next });
    }
  }
  return [...Array.from(byLetter, ([letter, group]) => branch(letter, group, place)), ...ends];
}

/** The ways behind a letter, and with it those that all of them have first. */
function branch(letter: string, group: readonly Way[], { add, depth }: Place): string {
  const size = sharedLength(group.map(({ text }) => text));
  const ways = group.map(({ text, ...way }) => ({ ...way, text: text.slice(size) }));
  const rest = branches(ways, { add, depth: depth + 1 });
  const begin = literal(`${letter}${group[0]?.text.slice(0, size) ?? ''}`);
  const [only, other] = rest;
  if (other !== undefined) {
    const body = rest.join(' | ');
    return `${begin} ${depth % mostDepth === mostDepth - 1 ? add(body) : `(${body})`}`;
  }
  return only === undefined || only === '""' ? begin : `${begin} ${only}`;
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
