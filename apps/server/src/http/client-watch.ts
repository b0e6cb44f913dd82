import type { FastifyReply } from 'fastify';

const probeEveryMs = 50;

/**
 * Tells when a client leaves before its answer is complete. Make it as soon as the request is known:
 * a client that leaves while its prompt is tokenized is noticed too.
 *
 * A client that closed its half of the socket may still read (`nc` does), so an end of input alone
 * proves nothing. From then on the probe is written: a client that is there ignores it, one that is
 * gone makes the write fail, and that closes the socket.
 */
export class ClientWatch {
  readonly #gone = new AbortController();
  readonly #reply: FastifyReply;
  #timer: NodeJS.Timeout | undefined;
  /** Until headers are out an interim response is the probe; clients skip those. */
  #probe = (): void => {
    const { raw, request } = this.#reply;
    if (!raw.headersSent && request.raw.httpVersion === '1.1') raw.writeProcessing();
  };

  constructor(reply: FastifyReply) {
    this.#reply = reply;
    const { raw } = reply;
    const { socket } = raw;
    const startProbing = (): void => {
      this.#timer ??= setInterval(() => this.#probe(), probeEveryMs);
    };
    const stop = (): void => {
      clearInterval(this.#timer);
      socket?.off('end', startProbing);
    };
    if (socket?.readableEnded) startProbing();
    else socket?.once('end', startProbing);
    raw.once('finish', stop);
    raw.once('close', () => {
      stop();
      if (!raw.writableFinished) this.#gone.abort();
    });
    if (raw.destroyed) this.#gone.abort();
  }

  /** Aborts once if the client leaves too early. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Replaces the probe: once headers are out only the route knows what a client ignores. */
  probeBy(probe: () => void): void {
    this.#probe = probe;
  }
}
