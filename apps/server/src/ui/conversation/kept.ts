import { type Conversations, parseConversations } from './conversations.js';
import type { Settings } from './settings.js';

const names = { conversations: 'altstream.conversations', settings: 'altstream.settings' };

/** A name for a conversation that no other has. */
export function freshId(): string {
  // `randomUUID` is for secure origins only; plain HTTP from another machine is none.
  return [...crypto.getRandomValues(new Uint32Array(3))].map((part) => part.toString(36)).join('-');
}

/** What this browser keeps of earlier visits; nothing of it is at the server. */
export function readConversations(): Conversations {
  return parseConversations(localStorage.getItem(names.conversations), freshId());
}

/** @returns false when the browser has no room or keeps nothing */
export function keepConversations(conversations: Conversations): boolean {
  return keep(names.conversations, conversations);
}

/** The settings form as it was left. */
export function readSettings(): Settings {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(names.settings) ?? '{}');
    const entries = Object.entries((read ?? {}) as Record<string, unknown>);
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
}

/** @returns false when the browser has no room or keeps nothing */
export function keepSettings(settings: Settings): boolean {
  return keep(names.settings, settings);
}

/**
 * Log-probabilities and frames are many times the answer; a few would fill what a browser keeps.
 */
function withoutBulk(name: string, value: unknown): unknown {
  return name === 'tokens' || name === 'exchange' ? undefined : value;
}

function keep(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(name, JSON.stringify(value, withoutBulk));
    return true;
  } catch {
    return false;
  }
}
