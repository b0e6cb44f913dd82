import { createParser } from 'eventsource-parser';
import { ExitError } from '../errors/index.js';

/** Where a server is. */
export interface ChatServer {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** A message of the dialogue. */
export interface ChatTurn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

interface ChatFrame {
  readonly error?: { readonly message: string };
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly { readonly function?: Readonly<Record<string, string>> }[];
    };
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
}

/** The first model that the server serves. */
export async function firstModel(server: ChatServer): Promise<string> {
  const answer = (await (await request(server, '/v1/models')).json()) as { data: { id: string }[] };
  const id = answer.data[0]?.id;
  if (id === undefined) throw new ExitError('usage', `${server.url} serves no model`);
  return id;
}

/** Asks, writes the answer while it comes (thoughts dimmed), and returns the assistant's turn. */
export async function streamChat(
  server: ChatServer,
  body: Record<string, unknown>,
  out: NodeJS.WritableStream & { isTTY?: boolean },
): Promise<ChatTurn> {
  const started = performance.now();
  const answer = await request(server, '/v1/chat/completions', {
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  let tokens = 0;
  const show = (text: string, isThought: boolean): void => {
    out.write(isThought && out.isTTY ? `\u001b[2m${text}\u001b[0m` : text);
  };
  await readFrames(answer, (frame) => {
    if (frame.error) throw new ExitError('engine', frame.error.message);
    tokens = frame.usage?.completion_tokens ?? tokens;
    const delta = frame.choices?.[0]?.delta;
    if (delta?.reasoning_content) show(delta.reasoning_content, true);
    for (const call of delta?.tool_calls ?? []) {
      show(`${call.function?.['name'] ?? ''}${call.function?.['arguments'] ?? ''}`, true);
    }
    if (delta?.content) {
      content += delta.content;
      show(delta.content, false);
    }
  });
  const seconds = (performance.now() - started) / 1000;
  out.write(`\n`);
  if (out.isTTY) show(`${tokens} tokens, ${(tokens / seconds).toFixed(1)} tokens/s\n`, true);
  return { role: 'assistant', content };
}

async function readFrames(answer: Response, onFrame: (frame: ChatFrame) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') onFrame(JSON.parse(data) as ChatFrame);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of answer.body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
}

async function request(server: ChatServer, path: string, body?: unknown): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    ...(server.apiKey === undefined ? {} : { authorization: `Bearer ${server.apiKey}` }),
  };
  const options =
    body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(server.url + path, options).catch((cause: Error) => {
    const remedy = 'start one with `altstream serve --model DIR`, or pass --url';
    throw new ExitError('usage', `no server answers at ${server.url}; ${remedy}`, { cause });
  });
  if (answer.ok) return answer;
  const text = await answer.text();
  throw new ExitError('usage', `${server.url} answered ${answer.status}: ${messageOf(text)}`);
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text;
  }
}
