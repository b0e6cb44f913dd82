import type { GrammarLibrary } from './library.js';

/** Between two tokens of JSON: enough for indented text, too little to go on for ever. */
const mostWhitespace = 40;

/** How the library writes any blanks; texts in JSON have no line end, so nothing else is it. */
const anyBlanks = /\[ \\n\\t\]\*/g;

/**
 * The rules of a schema's JSON, which share one for blanks. Asked for a bound itself, the library
 * makes that many rules at each place where blanks may be, leaves arrays of anything without one,
 * and takes a time that grows with the square of the rules. Each place keeps a rule that may be
 * empty: where they share that, too, the library takes texts that are no JSON.
 *
 * @throws what the library does
 */
export async function schemaRules(
  grammars: GrammarLibrary['Grammar'],
  schema: string,
  isStrict: boolean,
): Promise<string> {
  const grammar = await grammars.fromJSONSchema(schema, true, undefined, undefined, isStrict);
  const written = withFixedEscapes(grammar.toString());
  grammar.dispose();
  const places: string[] = [];
  const rules = written.replace(anyBlanks, () => {
    const name = `blanks_at_${places.length}`;
    places.push(`${name} ::= "" | blanks_0`);
    return name;
  });
  // The library names rules after references, without their digits: none of these ends in one.
  const blanks = `blanks_0 ::= [ \\n\\t]{1,${mostWhitespace}}`;
  return [rules, ...places, blanks, ''].join('\n');
}

/** The library writes `\xdf` and reads as many digits as follow it, those of the text too. */
function withFixedEscapes(rules: string): string {
  return rules.replaceAll(/\\(?:x([0-9a-f]{2})|.)/gs, (written, byte?: string) =>
    byte === undefined ? written : `\\u00${byte}`,
  );
}
