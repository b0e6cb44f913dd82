import { connect } from 'node:net';

/** What a socket gets for a text, up to the end of the connection. */
export async function rawAnswer(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.on('error', () => undefined);
  socket.end(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}
