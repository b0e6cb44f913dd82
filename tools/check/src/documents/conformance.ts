import type { Finding, Tree } from '../finding.js';

const document = 'apps/server/docs/conformance.md';
const cases = Array.from({ length: 60 }, (_, index) => `C${index + 1}`);
/** The title of a test, right behind `it(`, `test(`, or the `)(` of a table of cases. */
const title = /(?:\b(?:it|test)|\))\(\s*(['"`])(C\d+): (.+?)\1,/g;

interface NumberedTest {
  readonly number: string;
  readonly title: string;
  readonly file: string;
}

/**
 * Every case of the conformance plan has a test whose title begins with its number, and the table
 * in the server's docs is the one of those tests.
 */
export function conformance(tree: Tree): readonly Finding[] {
  if (!tree.files.includes(document)) return [];
  const tests = numberedTests(tree);
  const missing = cases.filter((number) => !tests.some((test) => test.number === number));
  const findings = missing.map((number) =>
    finding(document, `${number} has no test: a title that begins with "${number}: "`),
  );
  for (const { number, file } of tests) {
    if (!cases.includes(number)) findings.push(finding(file, `there is no case ${number}`));
  }
  const text = tree.text(document);
  const rows = text.split('\n').filter((line) => /^\| C\d+ /.test(line));
  const expected = tests.map(rowOf);
  const squeeze = (row: string): string => row.replaceAll(/ +/g, ' ');
  const known = new Set(rows.map(squeeze));
  const right = new Set(expected.map(squeeze));
  for (const row of expected) {
    if (!known.has(squeeze(row))) findings.push(finding(document, `this row is missing: ${row}`));
  }
  for (const row of rows) {
    if (!right.has(squeeze(row))) findings.push(finding(document, `no test has this row: ${row}`));
  }
  return findings;
}

/** The tests by number, then by file. */
function numberedTests(tree: Tree): readonly NumberedTest[] {
  const files = tree.files.filter((path) => /^(apps|packages)\/.*\.test\.ts$/.test(path));
  const tests = files.flatMap((file) =>
    [...tree.text(file).matchAll(title)].map((match) => ({
      number: match[2] ?? '',
      // What a template fills in is not known here.
      title: (match[3] ?? '').replaceAll(/\$\{[^}]*\}/g, '…'),
      file,
    })),
  );
  return tests.sort((a, b) => Number(a.number.slice(1)) - Number(b.number.slice(1)));
}

function rowOf({ number, title: text, file }: NumberedTest): string {
  return `| ${number} | ${text.replaceAll('|', '\\|')} | \`${file}\` |`;
}

function finding(at: string, message: string): Finding {
  return { check: 'conformance', at, message };
}
