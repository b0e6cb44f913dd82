import { readFileSync } from 'node:fs';

/** A metric that an expression reads, and the labels that it names of it. */
export interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Every expression of a board or of a file of rules in `deploy/`. */
export function expressionsOf(file: string): readonly string[] {
  const text = readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
  if (!file.endsWith('.json'))
    return [...text.matchAll(/^ +expr: (.+)$/gm)].map(([, one = '']) => one);
  const found: string[] = [];
  JSON.parse(text, (key, value: unknown) => {
    if (key === 'expr' && typeof value === 'string') found.push(value);
    if (key === 'definition' && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}

const functions = new Set([
  ...[
    'sum',
    'max',
    'min',
    'avg',
    'count',
    'rate',
    'increase',
    'histogram_quantile',
    'label_values',
  ],
  ...['by', 'on', 'and', 'or', 'unless', 'ignoring', 'group_left'],
]);

/** Metrics of an expression; labels are those of its braces and, of all metrics, of its `by`. */
export function readSelectors(expression: string): readonly Selector[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/\s*,\s*/).filter((name) => name !== 'le'),
  );
  const bare = expression
    .replaceAll(/\b(by|on) \([^)]*\)/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/(?<=label_values\([^,]*), \w+\)/g, ')');
  const selectors = bare.matchAll(/([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[^"}]|"[^"]*")*\})?/g);
  return [...selectors].flatMap(([, name = '', braces = '']): Selector[] => {
    if (functions.has(name) || name === 'up') return [];
    const own = [...braces.matchAll(/(\w+)(?==~?"|!=|!~)/g)].map(([, label = '']) => label);
    return [{ name, labels: [...own, ...grouped] }];
  });
}
