import { Agent, type IncomingMessage, request } from 'node:http';
import type { SoakRequest } from './soak-requests.js';

/** How a request ended, as its client saw it. */
export interface SoakEnd {
  readonly id: string;
  /** `finished`: with a finish reason. `failed`: with an error. `left`: by its client. */
  readonly kind: 'finished' | 'failed' | 'left' | 'wrong';
  readonly reason?: string;
  /** Of an error. */
  readonly code?: string;
  /** Of one that finished: what a client that asks again must get again. */
  readonly answer?: string;
  /** What was wrong with it. */
  readonly detail?: string;
}

interface Body {
  readonly error?: { readonly code?: string };
  readonly choices?: readonly Choice[];
}

interface Choice {
  readonly finish_reason?: string | null;
  readonly text?: string;
  readonly message?: Said;
  readonly delta?: Said;
}

interface Said {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly { readonly function?: { readonly arguments?: string } }[];
}

/** Sends soak requests; sockets are kept and used again, but for those of clients that leave. */
export class SoakClient {
  readonly #url: string;
  readonly #key: string | undefined;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /** @param key of the operator, if the server wants keys */
  constructor(url: string, key?: string) {
    this.#url = url;
    this.#key = key;
  }

  send(given: SoakRequest): Promise<SoakEnd> {
    const { id, path, body, headers, behaviour } = given;
    return new Promise((resolve) => {
      const settle = (end: Omit<SoakEnd, 'id'>): void => resolve({ id, ...end });
      const outgoing = request(`${this.#url}${path}`, {
        method: 'POST',
        agent: this.#agent,
        headers: { ...this.#headers(), ...headers, 'x-request-id': id },
      });
      const leave = (): void => {
        settle({ kind: 'left' });
        outgoing.destroy();
      };
      outgoing.on('response', (incoming) => this.#read(incoming, given, { settle, leave }));
      outgoing.on('error', (error) => settle({ kind: 'wrong', detail: error.message }));
      outgoing.end(body);
      if (behaviour === 'leave-whole') setTimeout(leave, given.after).unref();
    });
  }

  /** @returns the text of the metrics */
  metrics(): Promise<string> {
    return this.#call('GET', '/metrics');
  }

  flushCache(): Promise<string> {
    return this.#call('POST', '/flush_cache');
  }

  /** Ends the kept sockets. */
  close(): void {
    this.#agent.destroy();
  }

  #headers(): Record<string, string> {
    const key = this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` };
    return { ...key, 'content-type': 'application/json' };
  }

  async #call(method: 'GET' | 'POST', path: string, body: object = {}): Promise<string> {
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: { ...this.#headers(), connection: 'close' },
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
    });
    return answer.text();
  }

  #read(
    incoming: IncomingMessage,
    { id, behaviour, after }: SoakRequest,
    { settle, leave }: { settle: (end: Omit<SoakEnd, 'id'>) => void; leave: () => void },
  ): void {
    const status = incoming.statusCode ?? 0;
    let text = '';
    let pieces = 0;
    incoming.setEncoding('utf8');
    incoming.on('data', (piece: string) => {
      text += piece;
      pieces += 1;
      if (pieces !== after || status !== 200) return;
      if (behaviour === 'leave-stream') leave();
      if (behaviour === 'abort') void this.#call('POST', '/abort_request', { rid: id });
    });
    incoming.on('error', (error) => settle({ kind: 'wrong', detail: error.message }));
    incoming.on('end', () => {
      const isStream = String(incoming.headers['content-type']).includes('event-stream');
      settle(isStream ? endOfStream(text) : endOfWhole(status, text));
    });
  }
}

function endOfWhole(status: number, text: string): Omit<SoakEnd, 'id'> {
  const { error, choices } = parse(text);
  const reason = choices?.[0]?.finish_reason;
  if (status === 200 && reason && !error) {
    return { kind: 'finished', reason, answer: answerOf(choices ?? []) };
  }
  if (status >= 400 && error?.code) return { kind: 'failed', code: error.code };
  return { kind: 'wrong', detail: `status ${status}: ${text.slice(0, 200)}` };
}

/**
 * Exactly one end: a finish reason and the closing marker, or an error frame; and nothing behind
 * it.
 */
function endOfStream(text: string): Omit<SoakEnd, 'id'> {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
  const bodies = frames.map((frame) => frame.slice('data: '.length));
  const chunks = bodies.filter((body) => body !== '[DONE]').map(parse);
  const reasons = chunks.flatMap(({ choices = [] }) =>
    choices.flatMap(({ finish_reason: reason }) => (reason ? [reason] : [])),
  );
  const errors = chunks.filter(({ error }) => error);
  const dones = bodies.length - chunks.length;
  const detail = `${reasons.length} finish reasons, ${errors.length} errors, ${dones} closing markers: …${text.slice(-200)}`;
  const isDone = bodies.at(-1) === '[DONE]' && dones === 1;
  const [reason] = reasons;
  if (isDone && reasons.length === 1 && reason && errors.length === 0) {
    const answer = answerOf(chunks.flatMap(({ choices = [] }) => choices));
    return { kind: 'finished', reason, answer };
  }
  const code = errors[0]?.error?.code;
  const isFailed =
    dones === 0 && errors.length === 1 && chunks.at(-1)?.error && reasons.length === 0;
  return isFailed && code ? { kind: 'failed', code } : { kind: 'wrong', detail };
}

/**
 * Thoughts, text and arguments of calls, each joined: the same for a stream and for a whole answer.
 */
function answerOf(choices: readonly Choice[]): string {
  const said = choices.map(({ message, delta }) => message ?? delta);
  const thought = said.map((one) => one?.reasoning_content ?? '').join('');
  const calls = said.flatMap((one) => one?.tool_calls ?? []);
  const text = choices.map(({ text = '' }, n) => text + (said[n]?.content ?? '')).join('');
  const given = calls.map((call) => call.function?.arguments ?? '').join('');
  return JSON.stringify([thought, text, given]);
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}
