import { describeValue } from './errors/describe-value.js';
import type { ResolvedOptions } from './open-options.js';

const mostNamed = 8;

/** In which options two openings differ, in words; undefined when in none. */
export function differingOptions(open: ResolvedOptions, asked: ResolvedOptions) {
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

/** Each option that is no object, by the name under which `open` takes it. */
function leavesOf({ native, queue }: ResolvedOptions): ReadonlyMap<string, unknown> {
  const { maxPending, policy: queuePolicy } = queue;
  const leaves = new Map<string, unknown>();
  const add = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
      leaves.set(path, value);
      return;
    }
    for (const [name, part] of Object.entries(value)) add(path ? `${path}.${name}` : name, part);
  };
  add('', { maxPending, queuePolicy, ...native });
  return leaves;
}

function wordOf(value: unknown): string {
  return value === undefined || value === '' ? 'none' : describeValue(value);
}
