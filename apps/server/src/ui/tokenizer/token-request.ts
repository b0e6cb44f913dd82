/** What the page's field holds. */
export type InputKind = 'text' | 'chat' | 'ids';

/** What the server is asked: a prompt's text, a chat, or ids. */
export type TokenRequest =
  | { readonly kind: 'text'; readonly prompt: string }
  | { readonly kind: 'chat'; readonly chat: Readonly<Record<string, unknown>> }
  | { readonly kind: 'ids'; readonly tokens: readonly number[] };

/** Reads the field. @throws Error that says what was expected */
export function readInput(kind: InputKind, text: string): TokenRequest {
  if (kind === 'text') return { kind, prompt: text };
  return kind === 'chat' ? { kind, chat: chatOf(text) } : { kind, tokens: idsOf(text) };
}

/** A list of messages, or a whole request, whose fields that shape no prompt have no effect. */
function chatOf(text: string): Record<string, unknown> {
  const read: unknown = JSON.parse(text);
  if (Array.isArray(read)) return { messages: read };
  if (typeof read === 'object' && read !== null) return { ...read };
  throw new Error('expected a JSON array of messages, or a request with `messages`');
}

/** A JSON array, or numbers with commas or blanks between them. */
function idsOf(text: string): readonly number[] {
  const words = text.split(/[\s,[\]]+/).filter((word) => word !== '');
  const wrong = words.find((word) => !/^\d{1,9}$/.test(word));
  if (wrong !== undefined) throw new Error(`expected token ids, not ${wrong.slice(0, 40)}`);
  return words.map(Number);
}
