import { z } from 'zod';
import { fieldError } from '../openai/parse-body.js';
import { checkPattern, checkRules, checkSchema } from './check-grammar.js';
import { oneOfGrammar } from './choices/one-of.js';
import type { Grammar } from './grammar.js';

const schema = z.union(
  [z.record(z.string(), z.unknown()), z.boolean(), z.string()],
  'expected a JSON schema',
);
const mostChoices = 1024;
const mostTagBytes = 64 * 1024;

/** What an answer must look like; names are vLLM's and sglang's. */
export const grammarFields = {
  structured_outputs: z
    .looseObject({
      json: schema.nullish(),
      regex: z.string().nullish(),
      choice: z.array(z.string().min(1)).min(1).max(mostChoices).nullish(),
      grammar: z.string().nullish(),
      json_object: z.boolean().nullish(),
      structural_tag: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
  regex: z.string().nullish(),
  ebnf: z.string().nullish(),
  json_schema: schema.nullish(),
} as const;

/** `response_format` of chat requests. */
export const responseFormat = z
  .looseObject({
    type: z.enum(['text', 'json_object', 'json_schema', 'structural_tag']),
    json_schema: z
      .looseObject({
        name: z.string().nullish(),
        schema: z.union([z.record(z.string(), z.unknown()), z.boolean()]).nullish(),
        strict: z.boolean().nullish(),
      })
      .nullish(),
  })
  .nullish();

type Fields = z.infer<z.ZodObject<typeof grammarFields>> & {
  readonly response_format?: z.infer<typeof responseFormat>;
};

/** A grammar and the field that asked for it. */
export interface AskedGrammar {
  readonly grammar: Grammar;
  readonly param: string;
}

/**
 * The grammar of a request, checked as far as that goes without compiling; more than one is a 400.
 */
export function grammarOf(fields: Fields): AskedGrammar | undefined {
  const asked = [...formatOf(fields), ...structuredOf(fields), ...plainOf(fields)];
  const [first, second] = asked;
  if (first && second) {
    const problem = `a request may have one constraint, and \`${first.param}\` is another`;
    throw fieldError(second.param, problem);
  }
  return first?.make();
}

interface Candidate {
  readonly param: string;
  make(): AskedGrammar;
}

function formatOf({ response_format: format }: Fields): Candidate[] {
  const param = 'response_format';
  if (!format || format.type === 'text') return [];
  if (format.type === 'json_object') return [candidate(param, anyObject)];
  if (format.type === 'structural_tag') {
    const { type: _, ...rest } = format;
    const tag = 'format' in rest ? { type: 'structural_tag', ...rest } : rest;
    return [candidate(param, () => tagGrammar(tag, param))];
  }
  const path = `${param}.json_schema.schema`;
  const { schema: text, strict } = format.json_schema ?? {};
  if (text == null) throw fieldError(path, 'is missing', 'missing_required_parameter');
  return [candidate(path, () => schemaGrammar(text, path, strict !== false))];
}

function structuredOf({ structured_outputs: given }: Fields): Candidate[] {
  if (!given) return [];
  const at = (name: string): string => `structured_outputs.${name}`;
  const { json, regex, choice, grammar, json_object: object, structural_tag: tag } = given;
  return [
    ...(json == null ? [] : [candidate(at('json'), () => schemaGrammar(json, at('json'), true))]),
    ...(regex == null ? [] : [candidate(at('regex'), () => regexGrammar(regex, at('regex')))]),
    ...(choice == null ? [] : [candidate(at('choice'), () => choiceGrammar(choice))]),
    ...(grammar == null ? [] : [candidate(at('grammar'), () => rules(grammar, at('grammar')))]),
    ...(object ? [candidate(at('json_object'), anyObject)] : []),
    ...(tag == null
      ? []
      : [candidate(at('structural_tag'), () => tagGrammar(tag, at('structural_tag')))]),
  ];
}

function plainOf({ regex, ebnf, json_schema: json }: Fields): Candidate[] {
  return [
    ...(regex == null ? [] : [candidate('regex', () => regexGrammar(regex, 'regex'))]),
    ...(ebnf == null ? [] : [candidate('ebnf', () => rules(ebnf, 'ebnf'))]),
    ...(json == null
      ? []
      : [candidate('json_schema', () => schemaGrammar(json, 'json_schema', true))]),
  ];
}

function candidate(param: string, make: () => Grammar): Candidate {
  return { param, make: () => ({ grammar: make(), param }) };
}

function anyObject(): Grammar {
  return { kind: 'schema', text: '{"type":"object"}', isStrict: false };
}

function schemaGrammar(given: unknown, param: string, isStrict: boolean): Grammar {
  const parsed = typeof given === 'string' ? parseJson(given, param) : given;
  return { kind: 'schema', text: JSON.stringify(checkSchema(parsed, param)), isStrict };
}

function regexGrammar(pattern: string, param: string): Grammar {
  const format = { type: 'regex', pattern: checkPattern(pattern, param) };
  const tag = { type: 'structural_tag', format };
  return { kind: 'tag', text: JSON.stringify(tag) };
}

function choiceGrammar(choices: readonly string[]): Grammar {
  return { kind: 'ebnf', text: oneOfGrammar(choices) };
}

function rules(text: string, param: string): Grammar {
  checkRules(text, param);
  return { kind: 'ebnf', text };
}

function tagGrammar(given: string | Record<string, unknown>, param: string): Grammar {
  const tag = typeof given === 'string' ? parseJson(given, param) : given;
  const text = JSON.stringify(tag);
  if (Buffer.byteLength(text) > mostTagBytes) {
    throw fieldError(param, `more than ${mostTagBytes / 1024} KiB`, 'invalid_grammar');
  }
  return { kind: 'tag', text };
}

function parseJson(text: string, param: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fieldError(param, `is no JSON: ${(error as Error).message}`, 'invalid_schema');
  }
}
