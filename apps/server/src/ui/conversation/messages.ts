import type { AssistantTurn, ToolCall, Turn } from './turn.js';

/** A message of OpenAI's API. */
export type Message = Readonly<Record<string, unknown>>;

/** What is said before the first turn. */
export interface Opening {
  /** `system`, `developer`, or M3's `root`. */
  readonly role: string;
  readonly content: string;
}

/** Turns as the API takes them. Answers that say nothing, as after an error, are left out. */
export function toMessages(before: Opening, turns: readonly Turn[]): readonly Message[] {
  const opening = before.content.trim() === '' ? [] : [{ ...before }];
  return [...opening, ...turns.flatMap(toMessage)];
}

/** Calls of the last answer whose results are still to be entered. */
export function openCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const last = turns.findLastIndex((turn) => turn.role === 'assistant');
  const answer = turns[last];
  if (answer?.role !== 'assistant') return [];
  const after = turns.slice(last + 1);
  if (after.some((turn) => turn.role === 'user')) return [];
  const answered = new Set(after.map((turn) => (turn.role === 'tool' ? turn.callId : '')));
  return completeCalls(answer).filter(({ id }) => !answered.has(id));
}

function toMessage(turn: Turn): Message[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: turn.content }];
    case 'tool':
      return [{ role: 'tool', tool_call_id: turn.callId, content: turn.content }];
    case 'assistant':
      return assistantMessage(turn);
  }
}

function assistantMessage(turn: AssistantTurn): Message[] {
  const calls = completeCalls(turn);
  if (turn.content === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: turn.content === '' ? null : turn.content,
      ...(turn.reasoning === '' ? {} : { reasoning_content: turn.reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toCall) }),
    },
  ];
}

/** A call that was cut off has half its arguments; it cannot be sent back. */
function completeCalls({ calls, finish }: AssistantTurn): readonly ToolCall[] {
  return finish === 'tool_calls' || finish === 'stop' ? calls : [];
}

function toCall({ id, name, arguments: text }: ToolCall): Message {
  return { id, type: 'function', function: { name, arguments: text } };
}
