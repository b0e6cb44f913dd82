import type { FastifyReply } from 'fastify';
import { onSocketEnd } from './socket-end.js';

const probeEveryMs = 50;

/**
 * Tells when a client leaves before its answer is complete. Make it as soon as the request is
 * known: a client that leaves while its prompt is tokenized is noticed too.
 *
 * A client that closed its half of the socket may still read (`nc` does), so an end of input alone
 * proves nothing. From then on the probe is written: a client that is there ignores it, one that is
 * gone makes the write fail, and that closes the socket.
 *
 * A request that was sent before the answer to an earlier one has no socket for its reply yet, and
 * its reply never closes if the socket ends first; so the socket of the request is watched too.
 */
export class ClientWatch {
  readonly #gone = new AbortController();
  readonly #reply: FastifyReply;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** Until headers are out an interim response is the probe; clients skip those. */
  #probe = (): void => {
    const { raw, request } = this.#reply;
    if (!raw.headersSent && request.raw.httpVersion === '1.1') raw.writeProcessing();
  };

  constructor(reply: FastifyReply) {
    this.#reply = reply;
    const { raw } = reply;
    const { socket } = reply.request.raw;
    /** None while earlier answers of the socket are under way. */
    const own = raw.socket;
    const startProbing = (): void => {
      this.#timer ??= setInterval(() => this.#probe(), probeEveryMs);
    };
    const stop = (): void => {
      clearInterval(this.#timer);
      own?.off('end', startProbing);
      forget();
    };
    const end = (): void => {
      stop();
      if (!raw.writableFinished) this.#gone.abort();
      this.#over.abort();
    };
    const forget = onSocketEnd(socket, end);
    if (own?.readableEnded) startProbing();
    else own?.once('end', startProbing);
    raw.once('finish', stop);
    raw.once('close', end);
    // An earlier answer on this socket may have been its last one.
    if (raw.destroyed || socket.destroyed || socket.writableEnded) end();
  }

  /** Aborts once if the client leaves too early. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Aborts once when nothing more is to be sent: the answer is out, or the client left. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Replaces the probe: once headers are out only the route knows what a client ignores. */
  probeBy(probe: () => void): void {
    this.#probe = probe;
  }
}
