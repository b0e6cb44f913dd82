import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startServing } from '../makers/serving.js';
import { waitFor } from '../makers/wait-for.js';
import { makeCertificate } from './certificate.js';
import { TlsFolder } from './tls-folder.js';

const folder = new TlsFolder();
let model: ModelFolder;
beforeAll(async () => {
  model = await makeModelFolder('T32');
});
afterAll(() => {
  folder.remove();
  model?.remove();
});

/** Answers of a keep-alive connection, and whose certificate it saw. */
async function openConnection(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  const statusOf = async (key: string): Promise<string> => {
    const head = `host: 127.0.0.1\r\nauthorization: Bearer ${key}`;
    socket.write(`GET /v1/models HTTP/1.1\r\n${head}\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    return chunk.toString().slice(9, 12);
  };
  return { name: subject.CN, statusOf, close: () => socket.destroy() };
}

it('SIGHUP: reads certificate and keys anew, and what is wrong changes nothing', async () => {
  const write = (name: string): void => {
    const made = makeCertificate(name);
    folder.write('cert.pem', made.cert);
    folder.write('key.pem', made.key);
    folder.write('keys', `key-of-${name}\n`);
  };
  write('first');
  const pem = ['--ssl-certfile', folder.path('cert.pem'), '--ssl-keyfile', folder.path('key.pem')];
  const args = ['--model', model.path, '--device', 'cpu', '--api-key-file', folder.path('keys')];
  const server = await startServing(...args, ...pem);
  const told = (pattern: RegExp): Promise<void> => waitFor(() => pattern.test(server.output()));
  const before = await openConnection(server.url);
  expect([before.name, await before.statusOf('key-of-first')]).toEqual(['first', '200']);
  expect(server.output()).toMatch(/https:\/\/127[\s\S]*API key +required/);

  write('second');
  server.child.kill('SIGHUP');
  await told(/SIGHUP: read anew/);
  const after = await openConnection(server.url);
  expect([after.name, await after.statusOf('key-of-second')]).toEqual(['second', '200']);
  expect(await before.statusOf('key-of-first')).toBe('401');
  expect(await before.statusOf('key-of-second')).toBe('200');

  folder.write('key.pem', makeCertificate('third').key);
  folder.write('keys', 'key-of-third\n');
  server.child.kill('SIGHUP');
  await told(/key\.pem is not the key of [\s\S]*SIGHUP: nothing changed/);
  const still = await openConnection(server.url);
  expect([still.name, await still.statusOf('key-of-second')]).toEqual(['second', '200']);
  for (const { close } of [before, after, still]) close();
  expect(await server.stop()).toBe(0);
});
