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

/** An import, a re-export or a dynamic import. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** True if nothing of it is left at run time. */
  readonly isTypeOnly: boolean;
}

/** The import and export specifiers of a file, with their line numbers. */
export function importsOf(path: string, text: string): readonly Import[] {
  const file = parse(path, text);
  const found: Import[] = [];
  const add = (node: ts.Expression | undefined, isTypeOnly: boolean): void => {
    if (node && ts.isStringLiteral(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push({ specifier: node.text, line: line + 1, isTypeOnly });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node));
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isTypeImport({ importClause: clause }: ts.ImportDeclaration): boolean {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const { name, namedBindings } = clause;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((one) => one.isTypeOnly);
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
