import { element } from './element.js';

/** One of several views that stand in the same place. */
export interface Tab {
  readonly name: string;
  /** Made when it is looked at for the first time. */
  readonly view: () => Node;
}

let made = 0;

/** Views behind tabs; the first one is shown. Arrow keys, Home and End go from tab to tab. */
export function tabs(title: string, parts: readonly Tab[]): HTMLElement {
  made += 1;
  const group = made;
  const bar = element('div', { role: 'tablist', 'aria-label': title });
  const heads: HTMLButtonElement[] = [];
  const panels = parts.map((_, at) =>
    element('div', {
      ...{ role: 'tabpanel', id: `panel-${group}-${at}`, 'aria-labelledby': `tab-${group}-${at}` },
      ...{ hidden: at > 0 },
    }),
  );
  const choose = (chosen: number): void => {
    for (const [at, panel] of panels.entries()) {
      const isChosen = at === chosen;
      panel.hidden = !isChosen;
      heads[at]?.setAttribute('aria-selected', String(isChosen));
      heads[at]?.setAttribute('tabindex', isChosen ? '0' : '-1');
      const part = parts[at];
      if (isChosen && part && panel.childNodes.length === 0) panel.append(part.view());
    }
  };
  for (const [at, { name }] of parts.entries()) {
    const head = element('button', {
      ...{ type: 'button', role: 'tab', id: `tab-${group}-${at}` },
      'aria-controls': `panel-${group}-${at}`,
    });
    head.textContent = name;
    head.addEventListener('click', () => choose(at));
    heads.push(head);
  }
  bar.append(...heads);
  bar.addEventListener('keydown', (event) => {
    const at = heads.indexOf(event.target as HTMLButtonElement);
    const to = nextOf(event.key, at, heads.length);
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    choose(to);
    heads[to]?.focus();
  });
  choose(0);
  return element('div', {}, bar, ...panels);
}

function nextOf(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at - 1 + count) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}
