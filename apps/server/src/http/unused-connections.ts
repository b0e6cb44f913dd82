import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Closes connections that never had a request when the server closes. Node closes idle ones by
 * itself, but counts these as busy, and clients that connect ahead (Node's `fetch` after an abort,
 * browsers) would hold the end up.
 */
export function closeUnusedConnections(app: FastifyInstance): void {
  // By the client's address: with TLS a request's socket is another object than its connection's.
  const unused = new Map<string | Socket, Socket>();
  app.server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    unused.set(client, socket);
    socket.once('close', () => {
      if (unused.get(client) === socket) unused.delete(client);
    });
  });
  app.server.on('request', ({ socket }) => unused.delete(clientOf(socket)));
  app.addHook('preClose', async () => {
    for (const socket of unused.values()) socket.destroy();
  });
}

/** Clients of a Unix socket have no address, and there is no TLS. */
function clientOf(socket: Socket): string | Socket {
  const { remoteAddress, remotePort } = socket;
  return remotePort === undefined ? socket : `${remoteAddress} ${remotePort}`;
}
