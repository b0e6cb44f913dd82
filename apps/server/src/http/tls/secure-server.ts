import type { Server } from 'node:https';
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { TlsFiles } from './tls-files.js';

/** A client that connects and then is silent would hold a socket for Node's two minutes. */
const handshakeTimeoutMs = 20_000;

/** Options of an HTTPS server with these files. */
export function secureOptions(files: TlsFiles): TlsOptions {
  return {
    ...contextOf(files),
    requestCert: files.clients !== 'any',
    rejectUnauthorized: files.clients === 'known',
    handshakeTimeout: handshakeTimeoutMs,
  };
}

/**
 * Cuts off clients whose certificate is of nobody that is trusted, where having none is allowed.
 */
export function checkClients({ server }: FastifyInstance, { clients }: TlsFiles): void {
  if (clients !== 'checked') return;
  server.on('secureConnection', (socket: TLSSocket) => {
    const hasCertificate = Object.keys(socket.getPeerCertificate()).length > 0;
    if (hasCertificate && !socket.authorized) socket.destroy();
  });
}

/** New connections get the new files; open ones keep what they have. */
export function replaceFiles({ server }: FastifyInstance, files: TlsFiles): void {
  (server as unknown as Server).setSecureContext(contextOf(files));
}

function contextOf({ cert, key, ca }: TlsFiles): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) };
}
