import { controlTexts, type TagNames } from '@altstream/minimax-m3-chat';
import { ApiError } from '../errors/index.js';
import type { ChatRequest } from '../openai/chat-request.js';
import { fieldError } from '../openai/parse-body.js';
import type { ServerContext } from '../server-context.js';
import { checkSchemaSize } from './calls/schema-size.js';
import { toolCallGrammar } from './calls/tool-grammar.js';
import type { UnheldKeyword } from './calls/unheld-keywords.js';
import { checkChoices } from './choices/check-choices.js';
import type { ChoiceGrammar } from './grammar.js';
import { type AskedGrammar, grammarOf } from './grammar-fields.js';
import { malformedSchema } from './strict/malformed-schema.js';
import type { CallRule } from './tool-choice.js';

/** The path of the wish that arguments are held to their schema. */
export const strictFunctions = 'tools.function.strict';

type Tool = NonNullable<ChatRequest['tools']>[number];

/** Which tools may and must be called, and the names that the output parser will know. */
export interface NamedCalls extends CallRule<Tool> {
  /** Called only where there is a grammar of calls. */
  readonly tagNames: () => TagNames;
}

/** Grammars of a chat answer's parts, and where the marker of calls may be. */
export interface ChatGrammar {
  readonly answer?: AskedGrammar | undefined;
  readonly calls?: AskedGrammar | undefined;
  readonly marker: ChoiceGrammar['marker'];
  /** Keywords of schemas that calls are not held to, as paths of fields. */
  readonly unmet?: readonly string[];
}

/** The path of a keyword of functions' schemas. */
export function schemaField(keyword: string): string {
  return `tools.function.parameters.${keyword}`;
}

/**
 * The grammars of a chat answer: of forced calls, else the one that the request brings, and that of
 * calls whose arguments are to be checked. Undefined where everything is free.
 *
 * @param settings `strictTools`: the arguments of every function are checked, not only those that
 *   ask for it; without `hasGrammars` those of none are
 * @throws ApiError 400 `unsupported_parameter` for a forced call where there are no grammars;
 *   `invalid_schema` for a function that asks to be strict and cannot be;
 *   `invalid_grammar` for choices that no answer shows
 */
export function chatGrammarOf(
  request: ChatRequest,
  { tools, must, tagNames }: NamedCalls,
  { strictTools, hasGrammars }: Pick<ServerContext['settings'], 'strictTools' | 'hasGrammars'>,
): ChatGrammar | undefined {
  const own = grammarOf(request);
  checkChoices(request.structured_outputs?.choice);
  const isSingle = must === 'one' || request.parallel_tool_calls === false;
  const ofCalls = (isChecked: (tool: Tool) => boolean): CheckedCalls => {
    // Those that cannot be called have names of tags, too.
    const schemas = (request.tools ?? []).map((tool) => tool.function.parameters);
    checkSchemaSize(schemas, 'tools');
    for (const { function: asked } of tools) if (asked.strict === true) checkSchema(asked);
    const functions = tools.map((tool) => ({ ...tool.function, isFree: !isChecked(tool) }));
    const form = { isSingle, param: 'tools', names: tagNames() };
    const { grammar, unheld } = toolCallGrammar(functions, form);
    for (const [index, { function: asked }] of tools.entries()) {
      const [first] = unheld[index] ?? [];
      if (first && asked.strict === true) throw unheldError(asked.name, first);
    }
    const unmet = unheld.flat().map(({ keyword }) => schemaField(keyword));
    return { asked: { grammar, param: 'tools' }, unmet: [...new Set(unmet)] };
  };
  if (must && !hasGrammars) throw noGrammars('tool_choice');
  if (must) {
    const { asked, unmet } = ofCalls(() => true);
    return { answer: asked, marker: 'inside', unmet };
  }
  const isStrict = (tool: Tool): boolean =>
    hasGrammars && (strictTools || tool.function.strict === true);
  const calls = tools.some(isStrict) ? ofCalls(isStrict) : undefined;
  if (!own && !calls) return undefined;
  const marker = tools.length > 0 ? 'begins' : 'never';
  return { answer: own, calls: calls?.asked, marker, unmet: calls?.unmet ?? [] };
}

interface CheckedCalls {
  readonly asked: AskedGrammar;
  readonly unmet: readonly string[];
}

/** A schema that is none would hold a call to nothing. */
function checkSchema({ name, parameters }: Tool['function']): void {
  const malformed = malformedSchema(parameters ?? undefined);
  if (!malformed) return;
  const place = malformed.at === '' ? 'its parameters' : `\`${malformed.at}\` of its parameters`;
  const problem = `the function ${JSON.stringify(name)} is strict, and ${place} ${malformed.problem}`;
  throw fieldError('tools', problem, 'invalid_schema');
}

/** A wish that cannot be met is refused where the client insists on it. */
function unheldError(name: string, { keyword, at }: UnheldKeyword): ApiError {
  const place = at === '' ? 'its arguments' : `\`${at}\``;
  const problem = `the function ${JSON.stringify(name)} is strict, and calls cannot be held to \`${keyword}\` of ${place}; leave it out, or \`strict\``;
  return fieldError('tools', problem, 'invalid_schema');
}

/**
 * Compiles a grammar, before its request is queued.
 *
 * @throws ApiError 400 `invalid_schema` or `invalid_grammar` with the library's reason;
 *   `unsupported_parameter` where there are no grammars
 */
export async function compileGrammar(
  asked: AskedGrammar | undefined,
  { grammars, settings }: ServerContext,
): Promise<void> {
  if (!asked) return;
  const { grammar, param } = asked;
  if (!settings.hasGrammars) throw noGrammars(param);
  const verdict = await grammars.compile(grammar);
  if (!verdict) return;
  const code =
    grammar.kind === 'schema' || param === 'tools' ? 'invalid_schema' : 'invalid_grammar';
  const message = `\`${param}\`: ${verdict.refusal}`;
  throw new ApiError({ status: 400, code, param, message });
}

/** Wishes of a chat that a server without grammars takes and does not meet, as paths of fields. */
export function unmetWishes(
  { tools, tool_choice }: Pick<ChatRequest, 'tools' | 'tool_choice'>,
  { hasGrammars }: Pick<ServerContext['settings'], 'hasGrammars'>,
): readonly string[] {
  if (hasGrammars || tool_choice === 'none') return [];
  return tools?.some(({ function: { strict } }) => strict === true) ? [strictFunctions] : [];
}

function noGrammars(param: string): ApiError {
  const problem = 'needs a grammar, and this server has none (--grammar-backend none)';
  return fieldError(param, problem, 'unsupported_parameter');
}

/** Where the output begins, by the end of its prompt only: system texts contain the markers too. */
export function grammarStartOf(promptText: string): ChoiceGrammar['start'] {
  if (promptText.endsWith(controlTexts.thinkOpen)) return 'thoughts';
  return promptText.endsWith(controlTexts.thinkClose) ? 'answer' : 'either';
}
