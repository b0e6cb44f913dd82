import { fileURLToPath } from 'node:url';

/** Folder of the built web pages: beside the bundle, or in `dist` when run from source. */
export function uiFolder(): string {
  const path = import.meta.url.endsWith('.ts') ? '../dist/ui/' : './ui/';
  return fileURLToPath(new URL(path, import.meta.url));
}
