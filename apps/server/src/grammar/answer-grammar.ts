import { controlTexts } from '@altstream/minimax-m3-chat';
import { ApiError } from '../errors/index.js';
import type { ChatRequest } from '../openai/chat-request.js';
import type { ServerContext } from '../server-context.js';
import { toolCallGrammar } from './calls/tool-grammar.js';
import type { ChoiceGrammar } from './grammar.js';
import { type AskedGrammar, grammarOf } from './grammar-fields.js';
import type { CallRule } from './tool-choice.js';

type Tool = NonNullable<ChatRequest['tools']>[number];

/** The grammar of a chat answer: of forced calls, else the one that the request brings. */
export function chatGrammarOf(
  request: ChatRequest,
  { tools, must }: CallRule<Tool>,
): (AskedGrammar & Pick<ChoiceGrammar, 'marker'>) | undefined {
  const own = grammarOf(request);
  if (!must) return own && { ...own, marker: tools.length > 0 ? 'begins' : 'never' };
  const functions = tools.map((tool) => tool.function);
  const isSingle = must === 'one' || request.parallel_tool_calls === false;
  const grammar = toolCallGrammar(functions, { isSingle, param: 'tools' });
  return { grammar, param: 'tools', marker: 'inside' };
}

/**
 * Compiles a grammar, before its request is queued.
 *
 * @throws ApiError 400 `invalid_schema` or `invalid_grammar` with the library's reason
 */
export async function compileGrammar(
  asked: AskedGrammar | undefined,
  { grammars }: ServerContext,
): Promise<void> {
  if (!asked) return;
  const { grammar, param } = asked;
  const verdict = await grammars.compile(grammar);
  if (!verdict) return;
  const code =
    grammar.kind === 'schema' || param === 'tools' ? 'invalid_schema' : 'invalid_grammar';
  const message = `\`${param}\`: ${verdict.refusal}`;
  throw new ApiError({ status: 400, code, param, message });
}

/** Where the output begins, by the end of its prompt only: system texts contain the markers too. */
export function grammarStartOf(promptText: string): ChoiceGrammar['start'] {
  if (promptText.endsWith(controlTexts.thinkOpen)) return 'thoughts';
  return promptText.endsWith(controlTexts.thinkClose) ? 'answer' : 'either';
}
