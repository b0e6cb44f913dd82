import { describe, expect, it } from 'vitest';
import { arrows } from '../src/arrows.js';
import { changesets } from '../src/changesets.js';
import { dataPackages } from '../src/data-packages.js';
import { conformance } from '../src/documents/conformance.js';
import { documents } from '../src/documents/documents.js';
import { exportedDocs } from '../src/exported-docs.js';
import type { Check } from '../src/finding.js';
import { hygiene } from '../src/hygiene.js';
import { layout } from '../src/layout.js';
import { lineWidth } from '../src/line-width.js';
import { mirrors } from '../src/mirrors.js';
import { sizes } from '../src/sizes.js';
import { treeFromTexts } from '../src/tree.js';

/** 97 columns. */
const wide = 'word '.repeat(20).slice(0, 97);
const lines = (count: number): string => 'x;\n'.repeat(count);

interface Planted {
  readonly title: string;
  readonly check: Check;
  readonly texts: Readonly<Record<string, string>>;
  readonly message: RegExp;
}

const table = 'apps/server/docs/conformance.md';
const test = (title: string) => ({ 'apps/server/test/a.test.ts': `it('${title}', () => {});` });

const planted: Planted[] = [
  {
    title: 'a case without a test',
    check: conformance,
    texts: { [table]: '', ...test('C1: x') },
    message: /C2 has no test/,
  },
  {
    title: 'a test that is not in the table of cases',
    check: conformance,
    texts: { [table]: '', ...test('C1: x') },
    message: /row is missing: \| C1 \| x \| `apps\/server\/test\/a\.test\.ts` \|/,
  },
  {
    title: 'a row of cases without its test',
    check: conformance,
    texts: { [table]: '| C1 | y | `b` |', ...test('C1: x') },
    message: /no test has this row/,
  },
  {
    title: 'a case that is none',
    check: conformance,
    texts: { [table]: '', ...test('C61: x') },
    message: /no case C61/,
  },
  {
    title: 'a long file',
    check: sizes,
    texts: { 'packages/a/src/a.ts': lines(401) },
    message: /401 lines, at most 400/,
  },
  {
    title: 'a long function',
    check: sizes,
    texts: { 'packages/a/src/a.ts': `function f() {\n${lines(80)}}\n` },
    message: /function of 82 lines/,
  },
  {
    title: 'a package of weights without them',
    check: dataPackages,
    texts: { 'packages/a/package.json': '{"files": ["*.safetensors"]}' },
    message: /\*\.safetensors is missing/,
  },
  {
    title: 'weights that git should not hold',
    check: dataPackages,
    texts: { 'packages/a/package.json': '{"files": []}', 'packages/a/w': 'x'.repeat(25e6) },
    message: /bytes in git, at most 24000000/,
  },
  {
    title: 'code that exports nothing, which is no package of weights',
    check: layout,
    texts: { 'packages/a/package.json': '{"files": ["dist"]}', 'packages/a/src/a.ts': '' },
    message: /tsconfig\.json is missing/,
  },
  {
    title: 'a large file that is no weights',
    check: dataPackages,
    texts: {
      'packages/a/package.json': '{"files": ["dist"], "exports": {}}',
      'packages/a/test/fixtures/w': 'x'.repeat(1.1e6),
    },
    message: /at most 1000000/,
  },
  {
    title: 'an arrow up',
    check: arrows,
    texts: { 'packages/dense-kernels/src/a.ts': "import '@altstream/engine';" },
    message: /dense-kernels may not import engine/,
  },
  {
    title: 'an arrow sideways',
    check: arrows,
    texts: { 'packages/moe-kernels/src/a.ts': "import '@altstream/attention-kernels';" },
    message: /moe-kernels may not import attention-kernels/,
  },
  {
    title: 'a deep import',
    check: arrows,
    texts: { 'packages/engine/src/a.ts': "import '@altstream/cuda-runtime/src/x';" },
    message: /deep import/,
  },
  {
    title: 'an import out of the package',
    check: arrows,
    texts: {
      'packages/engine/src/a.ts': "import '../../moe-kernels/src/b.js';",
      'packages/moe-kernels/src/b.ts': '',
    },
    message: /leaves the package/,
  },
  {
    title: 'an import circle',
    check: arrows,
    texts: {
      'packages/engine/src/a.ts': "import './b.js';",
      'packages/engine/src/b.ts': "import './a.js';",
    },
    message: /import circle/,
  },
  {
    title: 'a plan that reads the environment',
    check: arrows,
    texts: { 'packages/moe-kernels/src/a.plan.ts': 'process.env;' },
    message: /a plan reads no environment/,
  },
  {
    title: 'napi outside its folder',
    check: arrows,
    texts: { 'packages/cuda-runtime/native/core/a.cpp': '#include <napi.h>' },
    message: /belongs to packages\/cuda-runtime\/native\/napi/,
  },
  {
    title: 'a new top-level entry',
    check: layout,
    texts: { 'scripts/a.sh': '' },
    message: /not an entry of the top level/,
  },
  {
    title: 'a vague name',
    check: layout,
    texts: { 'packages/a/src/utils.ts': '' },
    message: /idea was not found/,
  },
  {
    title: 'an install script',
    check: layout,
    texts: { 'packages/a/package.json': '{"scripts":{"postinstall":"x"}}' },
    message: /no postinstall script/,
  },
  {
    title: 'a barrel',
    check: layout,
    texts: { 'packages/a/src/inner/index.ts': '' },
    message: /index files/,
  },
  {
    title: 'a kernel without its mirrors',
    check: mirrors,
    texts: {
      'packages/moe-kernels/native/include/moe_kernels/topk.h':
        '/* kernel topk TopkParams block=1 */',
    },
    message: /mirror src\/topk\.plan\.ts is missing/,
  },
  {
    title: 'a CPU file without a header',
    check: mirrors,
    texts: { 'packages/moe-kernels/native/cpu/stray_avx2.cpp': '' },
    message: /no header/,
  },
  {
    title: 'a dead link',
    check: documents,
    texts: { 'README.md': '[x](docs/none.md)' },
    message: /leads nowhere/,
  },
  {
    title: 'a path that is not there',
    check: documents,
    texts: { 'README.md': '`packages/a/src/none.ts`' },
    message: /is no path/,
  },
  {
    title: 'an export that the README does not name',
    check: documents,
    texts: {
      'packages/a/src/index.ts': "export { thing } from './thing.js';",
      'packages/a/README.md': '',
    },
    message: /`thing` is not in it/,
  },
  {
    title: 'an undocumented export',
    check: exportedDocs,
    texts: { 'packages/a/src/a.ts': 'export function f() {}' },
    message: /without a doc comment/,
  },
  {
    title: 'unfinished work',
    check: hygiene,
    texts: { 'packages/a/src/a.ts': '// TODO: later' },
    message: /finish it or file it/,
  },
  {
    title: 'a skipped test',
    check: hygiene,
    texts: { 'packages/a/src/a.test.ts': "it.skip('x')" },
    message: /left out/,
  },
  {
    title: 'a second place that reads the environment',
    check: hygiene,
    texts: {
      'apps/server/src/config/environment.ts': 'process.env;',
      'apps/server/src/config/a.ts': '\nprocess.env;',
    },
    message: /^the environment is read in config[^\n]*$/,
  },
  {
    title: 'a wide comment in TypeScript',
    check: lineWidth,
    texts: { 'packages/a/src/a.ts': `  // ${wide}` },
    message: /^a comment of 102 columns, at most 100$/,
  },
  {
    title: 'a wide line of a block, in a header',
    check: lineWidth,
    texts: { 'packages/a/native/include/a.h': `/*\n *  ${wide}w\n */` },
    message: /^a comment of 102 columns, at most 100$/,
  },
  {
    title: 'a path of one machine',
    check: hygiene,
    texts: { 'README.md': 'see /home/me/x' },
    message: /path of one machine/,
  },
  {
    title: 'an address in the lock file',
    check: hygiene,
    texts: { 'pnpm-lock.yaml': 'tarball: https://x/' },
    message: /holds an address/,
  },
  {
    title: 'a package without a changeset',
    check: changesets,
    texts: { 'packages/a/package.json': '{"name":"@altstream/a","version":"0.0.0"}' },
    message: /no changeset names @altstream\/a/,
  },
];

describe('the structure checks', () => {
  it.each(planted)('find $title', ({ check, texts, message }) => {
    const messages = check(treeFromTexts(texts)).map((finding) => finding.message);
    expect(messages.join('\n')).toMatch(message);
  });

  it('find nothing in a file that keeps the rules', () => {
    const texts = { 'packages/engine/src/a.ts': '/** Does. */\nexport function f(): void {}\n' };
    for (const check of [sizes, arrows, exportedDocs, hygiene, lineWidth]) {
      expect(check(treeFromTexts(texts))).toEqual([]);
    }
  });

  it('find no wide comment in code, in a word that no line could hold, and in 100 columns', () => {
    const code = `const text = '// ${wide}';`;
    const header = `/* kernel ${wide} */\n`;
    const texts = { 'a.h': header, 'a.ts': `// ${wide}\n// https://${'a'.repeat(100)}\n${code}\n` };
    expect(lineWidth(treeFromTexts(texts))).toEqual([]);
  });
});
