import type { Finding, Tree } from './finding.js';
import { isFixture, isTest, isTypeScript } from './source.js';

interface Rule {
  readonly pattern: RegExp;
  readonly message: string;
  readonly applies: (path: string) => boolean;
}

const isSource = (path: string): boolean => isTypeScript(path) && !isTest(path);
const isCode = (path: string): boolean => /\.(ts|mts|mjs|cpp|cu|cuh|h)$/.test(path);
const isOwn = (path: string): boolean => !path.startsWith('tools/check/');

const rules: readonly Rule[] = [
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b/, message: 'finish it or file it', applies: isCode },
  {
    pattern: /@ts-(ignore|nocheck)|biome-ignore(?!.*:\s*\S)/,
    message: 'a suppression without a reason',
    applies: isCode,
  },
  {
    pattern: /\b(it|describe|test)\.(only|skip)\(/,
    message: 'a test that is left out',
    applies: isTypeScript,
  },
  {
    pattern: /^export default /m,
    message: 'exports have names',
    applies: (path) => isSource(path) && path.includes('/src/'),
  },
  {
    pattern: /\bprocess\.env\b/,
    message: 'the environment is read in config/environment.ts',
    applies: (path) =>
      isSource(path) &&
      path.startsWith('apps/server/src/') &&
      // A program that a page shows reads its own.
      !/\/(config\/environment|ui\/conversation\/snippets)\.ts$/.test(path),
  },
  {
    pattern: /(^|[\s"'(=])\/(work|root|home|tmp\/[a-z])[/\w-]*/m,
    message: 'a path of one machine',
    applies: (path) => isOwn(path) && !isTest(path),
  },
  {
    pattern: /registry\.(npmjs|yarnpkg)|deb\.debian\.org/,
    message: 'a registry host',
    applies: isOwn,
  },
];

/** Nothing unfinished, suppressed, tied to one machine, or pointing at a registry host. */
export function hygiene(tree: Tree): readonly Finding[] {
  const findings: Finding[] = [];
  for (const path of tree.files.filter((file) => !isFixture(file) && isText(file))) {
    for (const { pattern, message, applies } of rules) {
      if (!isOwn(path) || !applies(path)) continue;
      const match = pattern.exec(tree.text(path));
      if (match) {
        const line = tree.text(path).slice(0, match.index).split('\n').length;
        findings.push({
          check: 'hygiene',
          at: `${path}:${line}`,
          message: `${message}: ${match[0].trim()}`,
        });
      }
    }
  }
  if (tree.files.includes('pnpm-lock.yaml') && tree.text('pnpm-lock.yaml').includes('://')) {
    findings.push({ check: 'hygiene', at: 'pnpm-lock.yaml', message: 'holds an address' });
  }
  return findings;
}

function isText(path: string): boolean {
  return (
    /\.(ts|mts|mjs|json|md|yaml|yml|cpp|cu|cuh|h|cmake|txt|sh|jinja)$/.test(path) ||
    path === '.ci/run'
  );
}
