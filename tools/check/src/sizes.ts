import ts from 'typescript';
import type { Finding, Tree } from './finding.js';
import { isFixture, isTest, isTypeScript, parse } from './source.js';

const maximumLines = { typescript: 400, native: 600 };
const maximumFunctionLines = 80;
const nativeFile = /\.(cpp|cu|cuh|h)$/;

/** Files and functions within the hard maxima; tests and fixtures may be longer. */
export function sizes(tree: Tree): readonly Finding[] {
  const findings: Finding[] = [];
  for (const path of tree.files.filter((file) => !isTest(file) && !isFixture(file))) {
    const limit = isTypeScript(path)
      ? maximumLines.typescript
      : nativeFile.test(path)
        ? maximumLines.native
        : undefined;
    if (limit === undefined) continue;
    const lines = tree.text(path).split('\n').length - 1;
    if (lines > limit) {
      findings.push(finding(path, `${lines} lines, at most ${limit}: split it by idea`));
    }
    if (isTypeScript(path)) findings.push(...longFunctions(path, tree.text(path)));
  }
  return findings;
}

/** Median and largest number of lines of the TypeScript sources, for the closing summary. */
export function sizeSummary(tree: Tree): string {
  const lines = tree.files
    .filter((path) => isTypeScript(path) && !isTest(path) && path.includes('/src/'))
    .map((path) => tree.text(path).split('\n').length - 1)
    .sort((a, b) => a - b);
  const at = (share: number): number =>
    lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0;
  return `${lines.length} TypeScript sources: median ${at(0.5)} lines, p95 ${at(0.95)}, largest ${at(1)}`;
}

function longFunctions(path: string, text: string): Finding[] {
  const file = parse(path, text);
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
      const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
      const lines = last - first + 1;
      if (lines > maximumFunctionLines) {
        findings.push(
          finding(
            `${path}:${first + 1}`,
            `a function of ${lines} lines, at most ${maximumFunctionLines}: name its stages`,
          ),
        );
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return findings;
}

function finding(at: string, message: string): Finding {
  return { check: 'sizes', at, message };
}
