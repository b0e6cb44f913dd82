import { element } from '../shell/element.js';

/** A token as a page shows it. */
export interface ShownToken {
  readonly text: string;
  readonly class: string;
  /** What is said of it to who cannot see the colour. */
  readonly label: string;
}

const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/**
 * Tokens in a row. They are one stop of the tabulator key; arrows, Home and End go from one to
 * another.
 *
 * @param onLook told which token the pointer or the keyboard is at
 */
export function tokenList(
  title: string,
  tokens: readonly ShownToken[],
  onLook: (index: number) => void,
): HTMLElement {
  const items = tokens.map((token) =>
    element(
      'span',
      { role: 'option', class: `token ${token.class}`, 'aria-label': token.label, tabindex: -1 },
      token.text,
    ),
  );
  const indexOf = new Map<EventTarget | null, number>(items.map((item, index) => [item, index]));
  let current = items[0];
  current?.setAttribute('tabindex', '0');
  const list = element('div', { role: 'listbox', 'aria-label': title, class: 'tokens' }, ...items);
  const look = ({ target }: Event): void => {
    const index = indexOf.get(target);
    if (index === undefined) return;
    current?.removeAttribute('aria-selected');
    items[index]?.setAttribute('aria-selected', 'true');
    current?.setAttribute('tabindex', '-1');
    current = items[index];
    current?.setAttribute('tabindex', '0');
    onLook(index);
  };
  list.addEventListener('focusin', look);
  list.addEventListener('mouseover', look);
  list.addEventListener('keydown', (event) => {
    const at = indexOf.get(event.target);
    const move = moves[event.key];
    if (at === undefined || !move) return;
    event.preventDefault();
    items[move(at, items.length - 1)]?.focus();
  });
  return list;
}
