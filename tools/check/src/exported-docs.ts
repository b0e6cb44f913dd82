import ts from 'typescript';
import type { Finding, Tree } from './finding.js';
import { isTest, isTypeScript, parse } from './source.js';

/** Every exported declaration of a package says what it is. */
export function exportedDocs(tree: Tree): readonly Finding[] {
  return tree.files
    .filter(
      (path) => isTypeScript(path) && /^(packages|apps)\/[^/]+\/src\//.test(path) && !isTest(path),
    )
    .flatMap((path) => undocumented(path, tree.text(path)));
}

function undocumented(path: string, text: string): Finding[] {
  const file = parse(path, text);
  return file.statements.filter(isExportedDeclaration).flatMap((statement) => {
    if (ts.getJSDocCommentsAndTags(statement).length > 0) return [];
    const { line } = file.getLineAndCharacterOfPosition(statement.getStart(file));
    const at = `${path}:${line + 1}`;
    return [
      { check: 'exported-docs', at, message: 'an exported declaration without a doc comment' },
    ];
  });
}

function isExportedDeclaration(statement: ts.Statement): boolean {
  const isDeclaration =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isVariableStatement(statement);
  if (!isDeclaration || !ts.canHaveModifiers(statement)) return false;
  return ts.getModifiers(statement)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword) ?? false;
}
