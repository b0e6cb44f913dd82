import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../..', import.meta.url));
// Variables, the type of a warning, and what a report says instead of throwing.
const notErrors = /^CRT_(CUDA|CUDA_ROOT|WARN_LEAKS|LEAK|INTERNAL)$/;

test('the README lists the code of each error that the sources can throw', () => {
  const sources = ['src', 'native'].flatMap((part) =>
    readdirSync(`${folder}${part}`, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test)\.(ts|cpp|h)$/.test(file))
      .map((file) => readFileSync(`${folder}${part}/${file}`, 'utf8')),
  );
  const thrown = sources.flatMap((text) =>
    [...text.matchAll(/['"](CRT_[A-Z_]*[A-Z])['"]/g)].map(([, code = '']) => code),
  );
  const listed = new Set(codesOf(readFileSync(`${folder}README.md`, 'utf8')));
  const missing = [...new Set(thrown)].filter((code) => !notErrors.test(code) && !listed.has(code));
  expect(missing).toEqual([]);
  expect([...listed].filter((code) => !thrown.includes(code))).toEqual([]);
});

/** `CRT_EVENT_STALE`, `_NO_TIMING` are two: the second has the family of the first. */
function codesOf(readme: string): readonly string[] {
  const rows = readme.split('\n## ').find((part) => part.startsWith('Errors')) ?? '';
  return rows.split('\n').flatMap((row) => {
    const codes = [...row.matchAll(/`((?:CRT)?_[A-Z_]+)`/g)].map(([, code = '']) => code);
    const family = /^(CRT_[A-Z]+)_/.exec(codes[0] ?? '')?.[1] ?? '';
    return codes.map((code) => (code.startsWith('_') ? family + code : code));
  });
}
