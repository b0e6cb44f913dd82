// The grammar library is CommonJS in a package that says it is ESM, so `import` finds nothing in
// it.

import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';

/**
 * What is used of the library; every object lives in the memory of its wasm until it is disposed.
 */
export interface GrammarLibrary {
  readonly TokenizerInfo: {
    createTokenizerInfo(
      vocabulary: readonly string[],
      vocabularyType: 'byte_level',
      prependSpace: boolean,
      vocabularySize: number,
      stopTokenIds: readonly number[],
    ): Promise<LibraryObject>;
  };
  readonly Grammar: {
    fromEBNF(rules: string): Promise<LibraryObject>;
    fromJSONSchema(
      schema: string,
      anyWhitespace: boolean,
      indent: undefined,
      separators: undefined,
      isStrict: boolean,
    ): Promise<LibraryRules>;
  };
  readonly GrammarCompiler: {
    createGrammarCompiler(tokenizer: LibraryObject, isCached: boolean): Promise<LibraryCompiler>;
  };
  readonly GrammarMatcher: {
    createGrammarMatcher(
      grammar: LibraryObject,
      stopTokenIds?: readonly number[],
      endsWithoutStopToken?: boolean,
    ): Promise<LibraryMatcher>;
  };
}

/** An object in wasm memory. */
export interface LibraryObject {
  dispose(): void;
}

/** A grammar that is not compiled; its text is rules that make it again. */
export interface LibraryRules extends LibraryObject {
  toString(): string;
}

/** Compiles; what it cannot read aborts the wasm. */
export interface LibraryCompiler extends LibraryObject {
  compileGrammar(grammar: LibraryObject): Promise<LibraryObject>;
  compileStructuralTag(tag: unknown): Promise<LibraryObject>;
}

/** Follows one text. Asking for a mask after the stop token aborts the wasm. */
export interface LibraryMatcher extends LibraryObject {
  acceptToken(id: number): boolean;
  getNextTokenBitmask(): Promise<Int32Array>;
  isTerminated(): boolean;
}

/** Loads a copy of the library, with a wasm of its own. */
export function loadGrammarLibrary(): GrammarLibrary {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@mlc-ai/web-xgrammar');
  const loaded = new Module(path) as Module & { _compile(code: string, path: string): unknown };
  loaded._compile(readFileSync(path, 'utf8'), path);
  return loaded.exports as GrammarLibrary;
}
