import { parseOutput } from '@altstream/minimax-m3-chat';
import { fieldError } from '../../openai/parse-body.js';

const param = 'structured_outputs.choice';

/**
 * Refuses choices that a chat cannot answer with: what the model marks thoughts and calls with is
 * read, not shown, so that the answer would be another text. In text completions it is text.
 *
 * @throws ApiError 400 `invalid_grammar` that names the first such text
 */
export function checkChoices(choices: readonly string[] | null | undefined): void {
  const at = (choices ?? []).findIndex((choice) => !isShownWhole(choice));
  if (at < 0) return;
  const text = JSON.stringify(shortened(choices?.[at] ?? ''));
  const problem = `[${at}] is ${text}, which has markup of the model in it, such as a think marker or that of calls; a chat's answer never shows that, so it could not be this text`;
  throw fieldError(param, problem, 'invalid_grammar');
}

/** As the parser of answers sees it, where no thoughts came before. */
function isShownWhole(choice: string): boolean {
  const { content, reasoning, toolCalls } = parseOutput(choice);
  return content === choice && reasoning === null && toolCalls.length === 0;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
