import { byId } from './element.js';

const name = 'altstream.api-key';

/** The key of this tab; it is forgotten when the tab is closed, and no other tab sees it. */
export function apiKey(): string {
  return sessionStorage.getItem(name) ?? '';
}

/** Keeps what is typed into the page's key field. */
export function followApiKeyField(onChange: () => void): void {
  const field = byId('api-key', HTMLInputElement);
  field.value = apiKey();
  field.addEventListener('change', () => {
    const key = field.value.trim();
    if (key === '') sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, key);
    onChange();
  });
}
