import type { FastifyReply } from 'fastify';
import type { ApiError } from '../errors/index.js';
import { watchClient } from './gone-client.js';

/** A stream of server-sent events on a hijacked reply. */
export class EventStream {
  readonly #reply: FastifyReply;
  readonly #keepAlive: NodeJS.Timeout | undefined;
  #isOpen = true;

  /**
   * Sends the headers; from here on errors are frames.
   *
   * @param onGone called once if the client leaves before the end
   */
  constructor(reply: FastifyReply, options: { keepAliveMs: number; onGone: () => void }) {
    this.#reply = reply;
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
    watchClient(reply, {
      probe: () => raw.write(':\n\n'),
      onGone: () => {
        this.#stop();
        options.onGone();
      },
    });
    if (options.keepAliveMs > 0) {
      this.#keepAlive = setInterval(() => raw.write(': keep-alive\n\n'), options.keepAliveMs);
      this.#keepAlive.unref();
    }
  }

  /** False once the end was sent or the client left. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends one JSON value as an event. */
  send(value: unknown): void {
    if (this.#isOpen) this.#reply.raw.write(`data: ${JSON.stringify(value)}\n\n`);
  }

  /** Sends the closing marker and ends the response. */
  done(): void {
    this.#end('data: [DONE]\n\n');
  }

  /** Sends the error as a last frame, without the closing marker. */
  fail(error: ApiError): void {
    this.#end(`data: ${JSON.stringify(error.body)}\n\n`);
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
