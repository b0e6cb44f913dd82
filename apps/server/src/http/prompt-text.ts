import type { RenderInput } from '@altstream/minimax-m3-chat';
import { byteRoomOf, checkBytes } from '../generation/prompt-bytes.js';
import type { TextResult } from '../worker/text-messages.js';
import type { Ticket } from './admission.js';

/** Renders a chat and tokenizes it; refuses one whose texts cannot fit before it is rendered. */
export function tokenizeChat(input: RenderInput, ticket: Ticket): Promise<TextResult> {
  const bytes = input.messages.reduce((sum, { content }) => sum + bytesOf(content), 0);
  return tokenize({ kind: 'chat', input }, { bytes, param: 'messages' }, ticket);
}

/** Tokenizes a text; refuses one that cannot fit before that. */
export function tokenizeText(text: string, ticket: Ticket): Promise<TextResult> {
  const bytes = Buffer.byteLength(text);
  return tokenize({ kind: 'text', text }, { bytes, param: 'prompt' }, ticket);
}

async function tokenize(
  job: { kind: 'chat'; input: RenderInput } | { kind: 'text'; text: string },
  { bytes, param }: { bytes: number; param: 'messages' | 'prompt' },
  { context, client }: Ticket,
): Promise<TextResult> {
  const { maxModelLength = Number.POSITIVE_INFINITY } = context.info ?? {};
  const room = byteRoomOf(context.tokenizer.bytes, maxModelLength);
  checkBytes(bytes, room, param);
  const result = await context.text.run({ ...job, mostBytes: room.mostBytes }, client.signal);
  if ('ids' in result) return result;
  checkBytes(result.tooLongBytes, room, param);
  throw new Error(`a prompt of ${result.tooLongBytes} bytes was refused, though it may fit`);
}

/** Bytes of a message's text. Templates may trim it, so blanks at its ends do not count. */
function bytesOf(content: unknown): number {
  if (typeof content === 'string') return Buffer.byteLength(content.trim());
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, part: { text?: unknown }) => sum + bytesOf(part.text), 0);
}
