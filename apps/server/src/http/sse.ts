import type { FastifyReply } from 'fastify';
import type { ApiError } from '../errors/index.js';
import type { ClientWatch } from './client-watch.js';

/** Bytes that may wait for a client; one that reads more slowly than this is given up. */
const mostPendingBytes = 2 ** 20;

/** How a stream is made. */
export interface EventStreamOptions {
  readonly keepAliveMs: number;
  readonly client: ClientWatch;
  /** Called once before a client that does not read is cut off. */
  readonly onSlow: (pendingBytes: number) => void;
}

/** A stream of server-sent events on a hijacked reply. */
export class EventStream {
  readonly #reply: FastifyReply;
  readonly #options: EventStreamOptions;
  readonly #keepAlive: NodeJS.Timeout | undefined;
  #isOpen = true;

  /** Sends the headers; from here on errors are frames. */
  constructor(reply: FastifyReply, options: EventStreamOptions) {
    this.#reply = reply;
    this.#options = options;
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    raw.flushHeaders();
    raw.socket?.setNoDelay(true);
    const { client, keepAliveMs } = options;
    client.probeBy(() => this.#write(':\n\n'));
    if (client.signal.aborted) this.#stop();
    else client.signal.addEventListener('abort', () => this.#stop(), { once: true });
    if (this.#isOpen && keepAliveMs > 0) {
      this.#keepAlive = setInterval(() => this.#write(': keep-alive\n\n'), keepAliveMs);
      this.#keepAlive.unref();
    }
  }

  /** False once the end was sent or the client left. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends one JSON value as an event. */
  send(value: unknown): void {
    this.#write(`data: ${JSON.stringify(value)}\n\n`);
  }

  /** Sends the closing marker and ends the response. */
  done(): void {
    this.#end('data: [DONE]\n\n');
  }

  /** Sends the error as a last frame, without the closing marker. */
  fail(error: ApiError): void {
    this.#end(`data: ${JSON.stringify(error.body)}\n\n`);
  }

  /** The engine never waits for a client, so what a client does not read has a limit. */
  #write(text: string): void {
    if (!this.#isOpen) return;
    const { raw } = this.#reply;
    raw.write(text);
    if (raw.writableLength <= mostPendingBytes) return;
    this.#options.onSlow(raw.writableLength);
    this.#stop();
    raw.destroy();
  }

  #end(frame: string): void {
    if (!this.#isOpen) return;
    this.#stop();
    this.#reply.raw.end(frame);
  }

  #stop(): void {
    this.#isOpen = false;
    clearInterval(this.#keepAlive);
  }
}
