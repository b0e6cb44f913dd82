/** What may stand in an element; a string becomes a text node, never markup. */
export type Child = Node | string | undefined;

/** Attributes; `true` is an empty one, `undefined` and `false` are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an HTML element. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an SVG element. */
export function drawing<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  return fill(made, attributes, children);
}

/** The element of the page with this id. @throws Error if the page has none of this kind */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} with the id ${id}`);
}

function fill<T extends Element>(made: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : String(value));
    }
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}
