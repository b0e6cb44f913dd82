import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import OpenAI from 'openai';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { TlsFiles } from '../../src/http/tls/tls-files.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { makeCertificate } from './certificate.js';

const authority = makeCertificate('authority');
const own = makeCertificate('server', { by: authority });
const files: TlsFiles = {
  cert: own.cert,
  key: own.key,
  ca: authority.cert,
  clients: 'any',
  validTo: new Date(),
};
const body = JSON.stringify({ model: 'm3', prompt: 'Hi', stream: true });
const headers = { 'content-type': 'application/json' };

describe('HTTPS', () => {
  let server: ScriptedServer;
  afterEach(() => server?.close());

  /** What a client of undici gets for a stream, or the code of what went wrong. */
  async function ask(files: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>): Promise<string> {
    const dispatcher = new Agent({ connect: files as object });
    try {
      const url = `${server.url}/v1/completions`;
      const answer = await undiciFetch(url, { method: 'POST', headers, body, dispatcher });
      return await answer.text();
    } catch (error) {
      return String((error as Error & { cause?: { code?: string } }).cause?.code ?? error);
    } finally {
      await dispatcher.destroy();
    }
  }

  it('serves undici, node:https and the openai client', async () => {
    server = await startScripted({}, files);
    expect(server.url).toMatch(/^https:/);
    expect(await ask({ ca: authority.cert })).toMatch(/"text":"H"[\s\S]*data: \[DONE\]\n\n$/);
    expect(await ask({})).toMatch(/UNABLE_TO_|SELF_SIGNED/);
    const answer = await new Promise<string>((resolve, reject) => {
      const asked = request(`${server.url}/health`, { ca: authority.cert, agent: false });
      asked.on('error', reject).on('response', async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(`${response.statusCode} ${text}`);
      });
      asked.end();
    });
    expect(answer).toBe('200 {"status":"ok"}');
    const dispatcher = new Agent({ connect: { ca: authority.cert } });
    const client = new OpenAI({
      baseURL: `${server.url}/v1`,
      apiKey: 'none',
      maxRetries: 0,
      fetch: undiciFetch as unknown as typeof fetch,
      fetchOptions: { dispatcher } as never,
    });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const stream = await client.chat.completions.create({ model: 'm3', messages, stream: true });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello');
    await dispatcher.destroy();
  });

  it('is 1.2 at least, and nothing else is understood', async () => {
    server = await startScripted({}, files);
    const { hostname, port } = new URL(server.url);
    const offer = async (maxVersion: 'TLSv1.1' | 'TLSv1.2') => {
      const version = { minVersion: maxVersion, maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' };
      const socket = connect({
        host: hostname,
        port: Number(port),
        ca: authority.cert,
        ...version,
      });
      const [error] = await Promise.race([once(socket, 'secureConnect'), once(socket, 'error')]);
      const spoken = error ?? socket.getProtocol();
      socket.destroy();
      return spoken;
    };
    expect(await offer('TLSv1.2')).toBe('TLSv1.2');
    await expect(offer('TLSv1.1')).rejects.toMatchObject({ code: /TLS|SSL|ECONNRESET/ });
    await expect(fetch(server.url.replace('https', 'http'))).rejects.toThrow();
  });

  it('wants certificates of clients, if that was said', async () => {
    server = await startScripted({}, { ...files, clients: 'known' });
    const { cert, key } = makeCertificate('client', { by: authority });
    expect(await ask({ ca: authority.cert, cert, key })).toContain('[DONE]');
    expect(await ask({ ca: authority.cert })).toMatch(/CERTIFICATE_REQUIRED|ECONNRESET|UND_ERR/);
    const stranger = makeCertificate('stranger');
    const { cert: foreign, key: foreignKey } = stranger;
    expect(await ask({ ca: authority.cert, cert: foreign, key: foreignKey })).not.toContain('DONE');
  });

  it('checks certificates of clients that have one, if that was said', async () => {
    server = await startScripted({}, { ...files, clients: 'checked' });
    const { cert, key } = makeCertificate('stranger');
    expect(await ask({ ca: authority.cert })).toContain('[DONE]');
    expect(await ask({ ca: authority.cert, cert, key })).not.toContain('[DONE]');
  });

  it('ends at once, though clients are connected that say nothing', async () => {
    server = await startScripted({}, files);
    const { hostname, port } = new URL(server.url);
    const silent = connectTcp(Number(port), hostname).on('error', () => undefined);
    const greeted = connect({ host: hostname, port: Number(port), ca: authority.cert });
    greeted.on('error', () => undefined);
    await once(greeted, 'secureConnect');
    const started = performance.now();
    await server.app.close();
    // Node by itself waits for a minute, or for two.
    expect(performance.now() - started).toBeLessThan(20_000);
    silent.destroy();
    greeted.destroy();
  });
});
