import { describeValue } from '../errors/describe-value.js';

const mostNamed = 8;

/** In which entries two objects of options differ, in words; undefined when in none. */
export function differences(open: object, asked: object): string | undefined {
  const [has, wants] = [leavesOf(open), leavesOf(asked)];
  const names = [...new Set([...has.keys(), ...wants.keys()])].filter(
    (name) => has.get(name) !== wants.get(name),
  );
  if (names.length === 0) return undefined;
  const words = names
    .slice(0, mostNamed)
    .map((name) => `\`${name}\` ${wordOf(has.get(name))}, asked for ${wordOf(wants.get(name))}`);
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : [];
  return [...words, ...more].join('; ');
}

/** Each entry that is no object, by its path, such as `cpu.threads`. */
function leavesOf(options: object): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const add = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
      leaves.set(path, value);
      return;
    }
    for (const [name, part] of Object.entries(value)) add(path ? `${path}.${name}` : name, part);
  };
  add('', options);
  return leaves;
}

function wordOf(value: unknown): string {
  return value === undefined || value === '' ? 'none' : describeValue(value);
}
