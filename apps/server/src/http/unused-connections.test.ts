import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { closeUnusedConnections } from './unused-connections.js';

it('closes a connection without a request at once, and lets one with a request finish', async () => {
  const app = Fastify({ forceCloseConnections: 'idle' });
  closeUnusedConnections(app);
  let answer = (): void => {};
  app.get('/', () => new Promise((resolve) => (answer = () => resolve('whole'))));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const accepted = once(app.server, 'connection');
  const unused = connect(port, '127.0.0.1').resume();
  await accepted;
  const asked = once(app.server, 'request');
  const headers = { connection: 'close' };
  const response = fetch(`http://127.0.0.1:${port}/`, { headers });
  await asked;
  const gone = once(unused, 'close');
  const closed = app.close();
  await gone;
  answer();
  expect(await (await response).text()).toBe('whole');
  await closed;
}, 5000);
