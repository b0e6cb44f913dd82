import type { FastifyReply } from 'fastify';

const probeEveryMs = 50;

/**
 * Calls `onGone` once if the client leaves before its answer is complete.
 *
 * A client that closed its half of the socket may still read (`nc` does), so an end of input alone
 * proves nothing. From then on the `probe` is written: a client that is there ignores it, one that is
 * gone makes the write fail, and that closes the socket.
 */
export function watchClient(
  reply: FastifyReply,
  { probe, onGone }: { probe: () => void; onGone: () => void },
): void {
  const { raw } = reply;
  const { socket } = raw;
  let timer: NodeJS.Timeout | undefined;
  const startProbing = (): void => {
    timer ??= setInterval(probe, probeEveryMs);
  };
  const stop = (): void => {
    clearInterval(timer);
    socket?.off('end', startProbing);
  };
  if (socket?.readableEnded) startProbing();
  else socket?.once('end', startProbing);
  raw.once('finish', stop);
  raw.once('close', () => {
    stop();
    if (!raw.writableFinished) onGone();
  });
}

/** A probe for an answer whose headers are not out yet: clients skip interim responses. */
export function interimProbe(reply: FastifyReply): () => void {
  return () => {
    if (!reply.raw.headersSent && reply.request.raw.httpVersion === '1.1') {
      reply.raw.writeProcessing();
    }
  };
}
