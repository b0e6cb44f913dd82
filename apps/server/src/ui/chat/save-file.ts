import { element } from '../shell/element.js';

/** Gives the reader a file; nothing leaves the machine. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element('a', { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
