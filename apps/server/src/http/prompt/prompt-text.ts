import type { RenderInput } from '@altstream/minimax-m3-chat';
import { byteRoomOf, checkBytes } from '../../generation/prompt-bytes.js';
import type { TextResult } from '../../worker/text/text-messages.js';
import type { Ticket } from '../admission.js';

/** Who wants a prompt, and until when. */
export type PromptAsker = Pick<Ticket, 'context' | 'signal'>;

/** Renders a chat and tokenizes it; refuses one whose texts cannot fit before it is rendered. */
export function tokenizeChat(input: RenderInput, asker: PromptAsker): Promise<TextResult> {
  return tokenize({ kind: 'chat', input }, { bytes: bytesOfChat(input), param: 'messages' }, asker);
}

/** Renders a chat and does not tokenize it. */
export async function renderChat(input: RenderInput, asker: PromptAsker): Promise<string> {
  const size = { bytes: bytesOfChat(input), param: 'messages' } as const;
  return (await tokenize({ kind: 'render', input }, size, asker)).text;
}

/** Tokenizes a text; refuses one that cannot fit before that. */
export function tokenizeText(text: string, asker: PromptAsker): Promise<TextResult> {
  const bytes = Buffer.byteLength(text);
  return tokenize({ kind: 'text', text }, { bytes, param: 'prompt' }, asker);
}

async function tokenize(
  job: { kind: 'chat' | 'render'; input: RenderInput } | { kind: 'text'; text: string },
  { bytes, param }: { bytes: number; param: 'messages' | 'prompt' },
  { context, signal }: PromptAsker,
): Promise<TextResult> {
  const { maxModelLength = Number.POSITIVE_INFINITY } = context.info ?? {};
  const room = byteRoomOf(context.tokenizer.bytes, maxModelLength);
  checkBytes(bytes, room, param);
  const result = await context.text.run({ ...job, mostBytes: room.mostBytes }, signal);
  if ('ids' in result) return result;
  checkBytes(result.tooLongBytes, room, param);
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
