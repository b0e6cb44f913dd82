import { element } from '../shell/element.js';
import { numberText, shareText } from '../shell/number-text.js';

/** A table of counts by name, with their shares where they add up to a whole. */
export function countTable(
  title: string,
  counts: ReadonlyMap<string, number>,
  withShares: boolean,
): HTMLElement {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const rows = [...counts].map(([name, count]) => {
    const share = all === 0 ? 0 : count / all;
    const bar = element('meter', { value: share, min: 0, max: 1, 'aria-label': name });
    const shares = [element('td', {}, shareText(share)), element('td', {}, bar)];
    const head = element('th', { scope: 'row' }, name);
    return element(
      'tr',
      {},
      head,
      element('td', {}, numberText(count)),
      ...(withShares ? shares : []),
    );
  });
  return element('table', {}, element('caption', {}, title), element('tbody', {}, ...rows));
}

/** A table of facts; nested ones are written as `outer.inner`. */
export function factTable(title: string, facts: unknown): HTMLElement {
  const rows = flat(facts, '').map(([name, value]) =>
    element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value)),
  );
  return element('table', { 'aria-label': title }, element('tbody', {}, ...rows));
}

/** A setting of the server and where it is from. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** A table of settings; those that somebody chose stand out. */
export function settingTable(settings: readonly Setting[]): HTMLElement {
  const rows = settings.map(({ name, value, source }) =>
    element(
      'tr',
      source === 'default' ? {} : { class: 'chosen' },
      element('th', { scope: 'row' }, name),
      element('td', {}, element('code', {}, value)),
      element('td', {}, source),
    ),
  );
  return element('table', { 'aria-label': 'Settings' }, element('tbody', {}, ...rows));
}

function flat(value: unknown, name: string): [string, string][] {
  if (typeof value === 'number') return [[name, numberText(value)]];
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flat(inner, name === '' ? key : `${name}.${key}`),
  );
}
