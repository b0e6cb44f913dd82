/** A grammar as the library takes it, whatever field of a request it came from. */
export interface Grammar {
  /** `schema`: JSON schema; `ebnf`: rules, the first one named `root`; `tag`: a structural tag. */
  readonly kind: 'schema' | 'ebnf' | 'tag';
  readonly text: string;
  /** Properties and items that a schema does not name are forbidden. */
  readonly isStrict?: boolean;
}

/** A grammar for one choice, on its way to the engine. */
export interface ChoiceGrammar {
  /** Of the answer; undefined = that is free. */
  readonly grammar?: Grammar | undefined;
  /** Of calls where `marker` is `begins`; undefined = those are free. */
  readonly calls?: Grammar | undefined;
  /**
   * Where the output begins: in thoughts, which are free; in the answer, which is not; or the first
   * token decides.
   */
  readonly start: 'thoughts' | 'answer' | 'either';
  /** The namespace marker may be part of the answer, or, `begins`, start calls in its place. */
  readonly marker: 'never' | 'inside' | 'begins';
}

/** One text for equal grammars. */
export function grammarKey({ kind, text, isStrict }: Grammar): string {
  return `${kind}${isStrict === false ? '?' : ''}:${text}`;
}
