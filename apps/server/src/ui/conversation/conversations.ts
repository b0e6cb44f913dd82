import type { Turn } from './turn.js';

/** A conversation as it is kept. */
export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly turns: readonly Turn[];
}

/** All conversations of this browser, the newest first, and which one is shown. */
export interface Conversations {
  readonly current: string;
  readonly all: readonly Conversation[];
}

const most = 50;
const titleLength = 48;

/** A conversation without turns in front of the others; empty ones are not kept twice. */
export function begin(known: readonly Conversation[], id: string): Conversations {
  const kept = known.filter(({ turns }) => turns.length > 0).slice(0, most - 1);
  return { current: id, all: [{ id, title: 'New conversation', turns: [] }, ...kept] };
}

/** The one that is shown. */
export function shown({ current, all }: Conversations): Conversation {
  return all.find(({ id }) => id === current) ?? { id: current, title: '', turns: [] };
}

/** The shown conversation with other turns; its first question is its title. */
export function withTurns(kept: Conversations, turns: readonly Turn[]): Conversations {
  const question = turns.find((turn) => turn.role === 'user')?.content.trim() ?? '';
  const line = question.split('\n')[0] ?? '';
  const cut = line.length > titleLength ? `${line.slice(0, titleLength)}…` : line;
  const title = cut === '' ? 'New conversation' : cut;
  const all = kept.all.map((one) => (one.id === kept.current ? { ...one, title, turns } : one));
  return { ...kept, all };
}

/** Without the shown conversation. */
export function withoutShown({ current, all }: Conversations, freshId: string): Conversations {
  const rest = all.filter(({ id }) => id !== current);
  const [first] = rest;
  return first ? { current: first.id, all: rest } : begin([], freshId);
}

/** Reads what was kept; what is damaged is as good as nothing. */
export function parseConversations(text: string | null, freshId: string): Conversations {
  try {
    const read = JSON.parse(text ?? '') as Partial<Conversations> | null;
    const all = (read?.all ?? []).filter(isConversation);
    const isKnown = all.some(({ id }) => id === read?.current);
    if (all.length > 0 && isKnown && read?.current) return { current: read.current, all };
    return begin(all, freshId);
  } catch {
    return begin([], freshId);
  }
}

function isConversation(value: unknown): value is Conversation {
  const { id, title, turns } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof id !== 'string' || typeof title !== 'string' || !Array.isArray(turns)) return false;
  return turns.every(isTurn);
}

function isTurn(value: unknown): boolean {
  const turn = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof turn['content'] !== 'string') return false;
  if (turn['role'] === 'user') return true;
  if (turn['role'] === 'tool') return typeof turn['callId'] === 'string';
  const { reasoning, calls, numbers } = turn;
  return (
    turn['role'] === 'assistant' &&
    typeof reasoning === 'string' &&
    Array.isArray(calls) &&
    typeof numbers === 'object'
  );
}
