import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ServeFlags } from '../config/serve-flags.js';
import { ExitError } from '../errors/index.js';
import { listenOnSocket } from './unix-socket.js';

/** Binds the port, or the Unix socket that is named in its place. @throws ExitError (port) */
export async function listen(app: FastifyInstance, { host, port, uds }: ServeFlags): Promise<void> {
  if (uds !== undefined) return listenOnSocket(app, uds);
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const remedy = `stop the other program or pass --port ${port + 1} (0 takes any free one)`;
      throw new ExitError('port', `port ${port} on ${host} is in use; ${remedy}`, { cause });
    }
    throw new ExitError('port', `cannot listen on ${host}:${port}: ${message}`, { cause });
  }
}

/** Where a server that listens is reached: a URL, or `unix:` and the path of its socket. */
export function addressOf(app: FastifyInstance, { host, uds, sslCertfile }: ServeFlags): string {
  if (uds !== undefined) return `unix:${uds}`;
  const scheme = sslCertfile === undefined ? 'http' : 'https';
  const { port } = app.server.address() as AddressInfo;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
