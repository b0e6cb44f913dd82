import type { Socket } from 'node:net';

const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once when the socket is closed. One listener serves all requests of a socket, however
 * many a client sends before it reads the first answer.
 *
 * @returns takes the callback away
 */
export function onSocketEnd(socket: Socket, callback: () => void): () => void {
  const callbacks = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, callbacks);
    socket.once('close', () => {
      for (const call of [...callbacks]) call();
    });
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}
