import type { RenderInput } from '@altstream/minimax-m3-chat';
import {
  byteRoomOf,
  checkBytes,
  checkRendered,
  renderedRoomOf,
} from '../../generation/prompt-bytes.js';
import { fieldError } from '../../openai/parse-body.js';
import { EngineWorkerError } from '../../worker/engine-worker-error.js';
import type { TextResult, TextTask } from '../../worker/text/text-messages.js';
import type { Ticket } from '../admission.js';
import type { ChatPrompt } from './chat-prompt.js';
import { syntaxProblem } from './syntax-problem.js';

/** Who wants a prompt, whose turn that takes, and until when. */
export type PromptAsker = Pick<Ticket, 'context' | 'turn' | 'signal'>;

/** Renders a chat and tokenizes it; refuses one whose texts cannot fit before it is rendered. */
export function tokenizeChat(prompt: ChatPrompt, asker: PromptAsker): Promise<TextResult> {
  return prepareChat('chat', prompt, asker);
}

/** Renders a chat and does not tokenize it. */
export async function renderChat(prompt: ChatPrompt, asker: PromptAsker): Promise<string> {
  return (await prepareChat('render', prompt, asker)).text;
}

/** Tokenizes a text; refuses one that cannot fit before that. */
export function tokenizeText(text: string, asker: PromptAsker): Promise<TextResult> {
  const bytes = Buffer.byteLength(text);
  return tokenize({ kind: 'text', text }, { bytes, param: 'prompt' }, asker);
}

async function prepareChat(
  kind: 'chat' | 'render',
  { input, template }: ChatPrompt,
  asker: PromptAsker,
): Promise<TextResult> {
  const size = { bytes: bytesOfChat(input), param: 'messages' } as const;
  try {
    return await tokenize({ kind, input, template }, size, asker);
  } catch (error) {
    const isSyntax = error instanceof EngineWorkerError && error.code === 'CHAT_TEMPLATE_SYNTAX';
    if (template === undefined || !isSyntax) throw error;
    throw fieldError('chat_template', `cannot be parsed: ${syntaxProblem(error.message)}`);
  }
}

async function tokenize(
  task: TextTask,
  { bytes, param }: { bytes: number; param: 'messages' | 'prompt' },
  { context, turn, signal }: PromptAsker,
): Promise<TextResult> {
  const { maxModelLength = Number.POSITIVE_INFINITY } = context.info ?? {};
  const room = byteRoomOf(context.tokenizer.bytes, maxModelLength);
  checkBytes(bytes, room, param);
  // What is only shown is no prompt, and what a request's own template makes may be anything.
  const isForeign = task.kind === 'render' || (task.kind === 'chat' && task.template !== undefined);
  const mostBytes = isForeign ? renderedRoomOf(room) : room.mostBytes;
  const result = await context.text.run({ ...task, mostBytes }, { tenant: turn, signal });
  if ('ids' in result) return result;
  checkBytes(result.tooLongBytes, room, param);
  checkRendered(result.tooLongBytes, mostBytes);
  throw new Error(`a prompt of ${result.tooLongBytes} bytes was refused, though it may fit`);
}

function bytesOfChat({ messages }: RenderInput): number {
  return messages.reduce((sum, { content }) => sum + bytesOf(content), 0);
}

/** Bytes of a message's text. Templates may trim it, so blanks at its ends do not count. */
function bytesOf(content: unknown): number {
  if (typeof content === 'string') return Buffer.byteLength(content.trim());
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, part: { text?: unknown }) => sum + bytesOf(part.text), 0);
}
