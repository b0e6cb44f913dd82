import { fileURLToPath } from 'node:url';

/** Folder of the built web pages: beside the bundle, or in `dist` when run from source. */
export function uiFolder(): string {
  return builtFolder('ui');
}

/** Folder of what is built for the page at `/docs`. */
export function docsFolder(): string {
  return builtFolder('docs');
}

function builtFolder(name: string): string {
  const path = import.meta.url.endsWith('.ts') ? `../dist/${name}/` : `./${name}/`;
  return fileURLToPath(new URL(path, import.meta.url));
}
