import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the package holds every page that its README names', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const pages = new Set(readme.match(/docs\/[\w/-]+\.md/g));
  expect(pages.size).toBeGreaterThan(8);
  for (const page of pages) {
    expect(files).toContain('docs');
    expect(readFileSync(join(root, page), 'utf8')).toMatch(/^# /);
  }
});
