import type { RuleList } from './rule-list.js';

/** Elements one behind the other: some of their own, then any number of one kind. */
interface Parts {
  /** Rules of the first ones. */
  readonly first: readonly string[];
  /** Rule of the others; undefined = there are none. */
  readonly other: string | undefined;
  readonly least: number;
  readonly most: number | undefined;
  /** Stands between two. */
  readonly separator?: string;
}

/** The rules for as many elements as there may be. @returns the body of a rule */
export function sequence(
  rules: RuleList,
  { first, other, least, most, separator = '' }: Parts,
): string {
  const tuple = most === undefined ? first : first.slice(0, most);
  let rest = '""';
  if (other !== undefined) {
    const from = Math.max(0, least - tuple.length);
    const to = most === undefined ? undefined : most - tuple.length;
    rest =
      tuple.length > 0
        ? many(`${separator} ${other}`, from, to)
        : begun(other, separator, from, to);
  }
  // From the last one on; each that may be missing takes those behind it along.
  for (let index = tuple.length - 1; index >= 0; index -= 1) {
    const element = `${index > 0 ? separator : ''} ${tuple[index]} ${rest}`;
    rest = rules.add(index < least ? element : `(${element})?`);
  }
  return rest;
}

/** The first has no separator before it. */
function begun(
  element: string,
  separator: string,
  least: number,
  most: number | undefined,
): string {
  if (separator === '' || most === 0) return many(element, least, most);
  const more = many(
    `${separator} ${element}`,
    Math.max(0, least - 1),
    most === undefined ? most : most - 1,
  );
  return least > 0 ? `${element} ${more}` : `(${element} ${more})?`;
}

function many(element: string, least: number, most: number | undefined): string {
  if (most === 0) return '""';
  return least === 0 && most === undefined
    ? `(${element})*`
    : `(${element}){${least},${most ?? ''}}`;
}
