import type { Conversation } from './conversations.js';
import type { Turn } from './turn.js';

/** A conversation as Markdown for people. */
export function toMarkdown({ title, turns }: Conversation): string {
  return [`# ${title}`, ...turns.map(turnText)].join('\n\n').concat('\n');
}

/** A request as a command line; the key is named, never written. */
export function toCurl(url: string, body: unknown, hasKey: boolean): string {
  const key = hasKey ? ` \\\n  -H "authorization: Bearer $ALTSTREAM_API_KEY"` : '';
  const text = JSON.stringify(body, null, 1).replaceAll("'", String.raw`'\''`);
  return `curl -N ${url} -H 'content-type: application/json'${key} \\\n  -d '${text}'`;
}

function turnText(turn: Turn): string {
  if (turn.role === 'user') return `## User\n\n${turn.content}`;
  if (turn.role === 'tool') return `## Result of ${turn.name}\n\n${fenced(turn.content)}`;
  const parts = [
    ...(turn.reasoning === '' ? [] : [quoted(turn.reasoning)]),
    ...(turn.content === '' ? [] : [turn.content]),
    ...turn.calls.map((call) => `Calls \`${call.name}\`:\n\n${fenced(call.arguments)}`),
  ];
  return ['## Assistant', ...parts].join('\n\n');
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** A fence longer than every run of backticks inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
