import type { Grammar } from './grammar.js';
import { grammarKey } from './grammar.js';
import type { GrammarLibrary, LibraryCompiler, LibraryObject } from './library.js';
import { schemaRules } from './schema-rules.js';

const mostGrammars = 128;
/** Of source text; the compiled size is the library's secret, and grows with it. */
const mostBytes = 2 ** 20;

/** Compiled grammars, the latest used, within a number of them and of bytes of their sources. */
export class GrammarShelf {
  readonly #grammars: GrammarLibrary['Grammar'];
  readonly #compiler: LibraryCompiler;
  readonly #shelf = new Map<string, { readonly compiled: LibraryObject; readonly bytes: number }>();
  #bytes = 0;

  constructor(grammars: GrammarLibrary['Grammar'], compiler: LibraryCompiler) {
    this.#grammars = grammars;
    this.#compiler = compiler;
  }

  /** Whether it was compiled before and is still here. */
  has(grammar: Grammar): boolean {
    return this.#shelf.has(grammarKey(grammar));
  }

  /** Compiles, unless it is on the shelf; throws what the library does. */
  async take(grammar: Grammar): Promise<LibraryObject> {
    const key = grammarKey(grammar);
    const known = this.#shelf.get(key);
    if (known) {
      this.#shelf.delete(key);
      this.#shelf.set(key, known);
      return known.compiled;
    }
    const compiled = await this.#compile(grammar);
    const bytes = Buffer.byteLength(grammar.text);
    this.#shelf.set(key, { compiled, bytes });
    this.#bytes += bytes;
    this.#clear();
    return compiled;
  }

  /** Matchers keep what they need of a grammar that leaves. */
  #clear(): void {
    for (const [key, { compiled, bytes }] of this.#shelf) {
      const isFull = this.#shelf.size > mostGrammars || this.#bytes > mostBytes;
      if (!isFull || this.#shelf.size === 1) return;
      this.#shelf.delete(key);
      this.#bytes -= bytes;
      compiled.dispose();
    }
  }

  async #compile({ kind, text, isStrict = true }: Grammar): Promise<LibraryObject> {
    if (kind === 'tag') return this.#compiler.compileStructuralTag(JSON.parse(text));
    const isSchema = kind === 'schema';
    const rules = isSchema ? await schemaRules(this.#grammars, text, isStrict) : text;
    const grammar = await this.#grammars.fromEBNF(rules);
    const compiled = await this.#compiler.compileGrammar(grammar);
    grammar.dispose();
    return compiled;
  }
}
