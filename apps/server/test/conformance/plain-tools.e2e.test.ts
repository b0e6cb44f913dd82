import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';
import { postRaw } from './makers/raw-client.js';
import { dataOf, messages } from './makers/requests.js';

const run = promisify(execFile);
const path = '/v1/chat/completions';
const body = { model: 'm3', messages };

describe('tools that know no API', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  const curl = async (...args: readonly string[]): Promise<string> =>
    (await run('curl', ['-sS', '-N', '--max-time', '20', ...args])).stdout;
  const json = ['-H', 'content-type: application/json'];

  it('C58: an EventSource that posts reads to [DONE], and then the connection ends', async () => {
    const open = (method: 'GET' | 'POST') => {
      const answers: Response[] = [];
      const source = new EventSource(server.url + path, {
        fetch: async (url, init) => {
          const headers = { ...init.headers, 'content-type': 'application/json' };
          const text = JSON.stringify({ ...body, stream: true });
          const more = method === 'POST' ? { method, body: text, headers } : {};
          const answer = await fetch(url, { ...init, ...more });
          answers.push(answer);
          return answer;
        },
      });
      return { source, answers };
    };
    const { source, answers } = open('POST');
    const frames: string[] = [];
    source.onmessage = ({ data }) => frames.push(String(data));
    // An EventSource takes the end of a connection for an error and comes again: ours is over.
    await new Promise((resolve) => {
      source.onerror = resolve;
    });
    source.close();
    expect(frames.at(-1)).toBe('[DONE]');
    expect(frames.filter((frame) => frame === '[DONE]')).toHaveLength(1);
    expect(answers[0]?.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const wrong = open('GET');
    const error = await new Promise<{ code?: number | undefined }>((resolve) => {
      wrong.source.onerror = resolve;
    });
    expect([error.code, wrong.source.readyState]).toEqual([405, EventSource.CLOSED]);
    expect(wrong.answers).toHaveLength(1);
  });

  it('C59: curl may wait for 100 Continue, send chunks, or speak HTTP/1.0', async () => {
    const data = ['-d', JSON.stringify(body), server.url + path];
    const whole = (text: string): unknown => JSON.parse(text).choices[0].message.content;
    expect(whole(await curl(...json, '-H', 'Expect: 100-continue', ...data))).toBe('Hello');
    expect(whole(await curl(...json, '-H', 'Transfer-Encoding: chunked', ...data))).toBe('Hello');
    expect(whole(await curl(...json, '--http1.0', ...data))).toBe('Hello');
    const waited = await run('curl', ['-sSv', ...json, '-H', 'Expect: 100-continue', ...data]);
    expect(waited.stderr).toMatch(/< HTTP\/1\.1 100 Continue/);
    const stream = ['-d', JSON.stringify({ ...body, stream: true }), server.url + path];
    for (const version of ['--http1.0', '--http1.1']) {
      expect(dataOf(await curl(...json, version, ...stream)).at(-1), version).toBe('[DONE]');
    }
    const old = await curl(...json, '-i', '--http1.0', ...stream);
    expect(old).not.toMatch(/transfer-encoding/i);
  });

  it('C59: HEAD and OPTIONS are answered, with what is allowed', async () => {
    const head = await curl('-I', `${server.url}/v1/models`);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(head.split('\r\n\r\n')[1]).toBe('');
    for (const method of ['HEAD', 'OPTIONS', 'TRACE']) {
      const answer = await curl(
        '-i',
        '-X',
        method,
        ...(method === 'HEAD' ? ['-I'] : []),
        server.url + path,
      );
      expect(answer, method).toMatch(/^HTTP\/1\.1 405 Method Not Allowed/);
      expect(answer, method).toMatch(/\r\nallow: POST\r\n/);
    }
  });

  it.each([false, true])(
    'C60: a client that closes its half still gets it all (stream: %s)',
    async (stream) => {
      server.engine.scripts = [{ text: 'late but whole', waitMs: 150 }];
      const client = postRaw(server.url, path, { ...body, stream }, 'connection: close');
      client.socket.end();
      const answer = await client.ended();
      expect(answer).toMatch(/^(HTTP\/1\.1 102 Processing\r\n\r\n)*HTTP\/1\.1 200 OK\r\n/);
      expect(answer).toContain(stream ? 'data: [DONE]' : 'late but whole');
      await waitFor(() => server.context.active.size === 0);
      expect(server.engine.received.at(-1)?.isAborted).toBe(false);
    },
  );
});
