import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { ApiError } from '../../errors/index.js';
import type { ClientWatch } from '../client-watch.js';

/** Bytes that may wait for a client; one that reads more slowly than this is given up. */
const mostPendingBytes = 2 ** 20;
/** With so many bytes under way nothing more is made for a client until it has read them. */
const blockedBytes = 2 ** 18;

/** Characters of a frame that cannot make a client that is not behind be blocked. */
const mostAtOnce = 4096;

/** How a stream is made. */
export interface EventStreamOptions {
  readonly keepAliveMs: number;
  /** Longest that a client may read nothing of what is there for it; 0 = any time. */
  readonly stallMs: number;
  readonly client: ClientWatch;
  /** Called once before a client that does not read is cut off. */
  readonly onSlow: (pendingBytes: number) => void;
}

/** A stream of server-sent events on a hijacked reply. */
export class EventStream {
  readonly #reply: FastifyReply;
  readonly #options: EventStreamOptions;
  readonly #keepAlive: NodeJS.Timeout | undefined;
  /** Writes that the client has not read, and since when. */
  #unread = 0;
  #unreadSinceMs = 0;
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
    this.#watchReading();
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

  /**
   * True while the client has not read what it was sent: hold back, and say how much with `hold`.
   */
  get isBlocked(): boolean {
    return this.#reply.raw.writableLength > blockedBytes;
  }

  /** Called each time that the client has read everything. */
  onRead(callback: () => void): void {
    this.#reply.raw.on('drain', callback);
  }

  /** So many bytes are held back; too many are too much. */
  hold(bytes: number): void {
    const pending = this.#reply.raw.writableLength + bytes;
    if (pending > mostPendingBytes) this.#giveUp(pending);
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
    this.#begin();
    writeAtOnce(raw, text, this.#read);
    this.hold(0);
  }

  /** A write begins; the time counts from the first that waits. */
  #begin(): void {
    if (this.#unread === 0) this.#unreadSinceMs = performance.now();
    this.#unread += 1;
  }

  readonly #read = (): void => {
    this.#unread -= 1;
    this.#unreadSinceMs = performance.now();
  };

  /**
   * A client that reads slowly is served; one that reads nothing at all for too long is given up.
   */
  #watchReading(): void {
    const { stallMs } = this.#options;
    const { raw } = this.#reply;
    if (stallMs === 0) return;
    const timer = setInterval(() => {
      if (this.#unread > 0 && performance.now() - this.#unreadSinceMs > stallMs) {
        this.#giveUp(raw.writableLength);
      }
    }, stallMs / 4);
    timer.unref();
    raw.once('close', () => clearInterval(timer));
  }

  #giveUp(pendingBytes: number): void {
    const { raw } = this.#reply;
    if (raw.destroyed) return;
    this.#options.onSlow(pendingBytes);
    this.#stop();
    raw.destroy();
  }

  #end(frame: string): void {
    if (!this.#isOpen) return;
    this.#stop();
    this.#begin();
    this.#reply.raw.end(frame, this.#read);
  }

  #stop(): void {
    this.#isOpen = false;
    clearInterval(this.#keepAlive);
  }
}

/**
 * One write to the socket for a frame. `raw.write` makes four of it, for the chunk's length, the
 * frame and the ends of their lines, and gathers them again in the next tick: for a token that is a
 * third of all its cost.
 */
function writeAtOnce(raw: ServerResponse, text: string, onRead: () => void): void {
  const { socket, chunkedEncoding, writableLength } = raw;
  // Without a socket, earlier answers of the connection are not out yet; and only `raw.write` makes
  // sure that it says when a client that is behind has read everything.
  const isFree = socket && chunkedEncoding && writableLength === 0 && text.length <= mostAtOnce;
  if (isFree) socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`, onRead);
  else raw.write(text, onRead);
}
