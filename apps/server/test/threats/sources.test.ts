import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Sources of what is installed. */
function sources(): string[] {
  return ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((part) => {
      try {
        const folder = join(root, group, part, 'src');
        return readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((file) => /(?<!\.test)\.(ts|mts|js|mjs)$/.test(file))
          .map((file) => join(folder, file));
      } catch {
        return [];
      }
    }),
  );
}

it('nothing is run as code that is not in a file of ours (S8)', () => {
  const files = sources();
  expect(files.length).toBeGreaterThan(300);
  const running = /(?<![.\w])eval\s*\(|new\s+Function\s*\(|['"](node:)?vm['"]/;
  expect(files.filter((file) => running.test(readFileSync(file, 'utf8')))).toEqual([]);
  expect(running.test('const x = eval(answer)')).toBe(true);
});
