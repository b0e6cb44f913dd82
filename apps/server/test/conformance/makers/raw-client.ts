import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client without a library: one socket, and what came back on it. */
export interface RawClient {
  readonly socket: Socket;
  /** What was received so far. */
  received(): string;
  /** Waits for the end of the connection. @returns all that was received */
  ended(): Promise<string>;
}

/** Opens a socket; nothing is sent. */
export function openRaw(url: string): RawClient {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const received = (): string => Buffer.concat(chunks).toString();
  return {
    socket,
    received,
    ended: async () => {
      if (!socket.readableEnded && !socket.destroyed) {
        await Promise.race([once(socket, 'end'), once(socket, 'close')]);
      }
      socket.end();
      return received();
    },
  };
}

/** The text of a POST request. */
export function postText(path: string, body: object, ...headers: readonly string[]): string {
  const text = JSON.stringify(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** Opens a socket and posts a body on it. */
export function postRaw(
  url: string,
  path: string,
  body: object,
  ...headers: readonly string[]
): RawClient {
  const client = openRaw(url);
  client.socket.write(postText(path, body, ...headers));
  return client;
}
