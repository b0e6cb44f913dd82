import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const server = fileURLToPath(new URL('../../', import.meta.url));
const packages = fileURLToPath(new URL('../../../../packages/', import.meta.url));
const threats = Array.from({ length: 25 }, (_, index) => `S${index + 1}`);

/** Titles of tests below a folder. */
function titlesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return /^(node_modules|dist|build)$/.test(entry.name) ? [] : titlesOf(path);
    if (!entry.name.endsWith('.test.ts')) return [];
    const calls = readFileSync(path, 'utf8').matchAll(
      /(?:\b(?:it|test|describe)|\))\(\s*(['"`])(.+?)\1,/g,
    );
    return [...calls].map(([, , title = '']) => title);
  });
}

it('every threat has a test with its number, and a line in docs/operations.md that leads to files', () => {
  const titles = [server, ...readdirSync(packages).map((name) => packages + name)].flatMap(
    titlesOf,
  );
  const rows = readFileSync(`${server}docs/operations.md`, 'utf8')
    .split('\n')
    .filter((line) => /^\| S\d+ /.test(line));
  for (const threat of threats) {
    const number = new RegExp(`\\b${threat}\\b`);
    expect([threat, titles.some((title) => number.test(title))]).toEqual([threat, true]);
    expect([threat, rows.filter((row) => number.test(row)).length]).toEqual([threat, 1]);
  }
  for (const [, path = ''] of rows.join('\n').matchAll(/`((?:src|test)\/[^`]+)`/g)) {
    expect([path, existsSync(server + path)]).toEqual([path, true]);
  }
});
