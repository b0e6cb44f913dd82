import ts from 'typescript';

/** True for TypeScript sources, declarations of scripts included. */
export function isTypeScript(path: string): boolean {
  return /\.m?tsx?$/.test(path);
}

/** True for test files and everything that only tests import. */
export function isTest(path: string): boolean {
  return /\.(test|test-d)\.tsx?$/.test(path) || path.includes('/test/');
}

/** True for recorded data, which has its own rules. */
export function isFixture(path: string): boolean {
  return path.includes('/fixtures/') || path.includes('/bench/results/');
}

/** Parses a file without types, with parent links. */
export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
}

/** The import and export specifiers of a file, with their line numbers. */
export function importsOf(
  path: string,
  text: string,
): readonly { readonly specifier: string; readonly line: number }[] {
  const file = parse(path, text);
  const found: { specifier: string; line: number }[] = [];
  const add = (node: ts.Expression | undefined): void => {
    if (node && ts.isStringLiteral(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push({ specifier: node.text, line: line + 1 });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The names that an index file exports by `export { … } from`. */
export function exportedNames(path: string, text: string): readonly string[] {
  const names: string[] = [];
  for (const statement of parse(path, text).statements) {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause) continue;
    if (!ts.isNamedExports(statement.exportClause)) continue;
    for (const element of statement.exportClause.elements) names.push(element.name.text);
  }
  return names;
}
