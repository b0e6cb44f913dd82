import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const bom = Buffer.from([0xef, 0xbb, 0xbf]);
const bodyWith = (content: string): Buffer =>
  Buffer.from(JSON.stringify({ model: 'm3', prompt: content, max_tokens: 1 }));

describe('the bytes of a body', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted();
  });
  afterEach(() => server.close());

  async function post(path: string, body: Buffer) {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(body),
    });
    return { status: answer.status, body: (await answer.json()) as { error?: object } };
  }
  const prompt = () => server.context.tokenizer.decode(server.engine.received.at(-1)?.prompt ?? []);

  it('are UTF-8 on every route, or refused', async () => {
    const paths = [...server.app.routeTable].flatMap(([path, method]) =>
      method === 'POST' ? [path] : [],
    );
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      const wrong = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
      expect([path, await post(path, wrong)]).toEqual([
        path,
        {
          status: 400,
          body: {
            error: {
              message: 'the body is not valid JSON: it is not UTF-8 from byte 6 on',
              ...{ type: 'invalid_request_error', param: null, code: 'invalid_json' },
            },
          },
        },
      ]);
    }
  });

  it.each([
    ['a byte that never occurs', [0xff], 0],
    ['Latin-1', [0xe9, 0x20], 0],
    ['the first byte of two', [0xc3], 0],
    ['the first byte of three', [0xef], 0],
    ['the first two of three', [0xef, 0xbf], 0],
    ['what begins as the character for wrong bytes does', [0x41, 0xef, 0xbf, 0x41], 1],
    ['a follower alone', [0x41, 0x80], 1],
    ['a longer form than needed', [0xc0, 0xaf], 0],
    ['half a pair', [0xed, 0xa0, 0x80], 0],
    ['beyond the last character', [0xf4, 0x90, 0x80, 0x80], 0],
  ])('are refused, with the place, when they are %s', async (_, bytes, at) => {
    const [before, after] = [Buffer.from('{"prompt":"ä�'), Buffer.from('"}')];
    const answer = await post(
      '/v1/completions',
      Buffer.concat([before, Buffer.from(bytes), after]),
    );
    expect([answer.status, answer.body.error]).toMatchObject([
      400,
      { message: expect.stringMatching(new RegExp(`from byte ${before.length + at} on$`)) },
    ]);
    expect(server.engine.received).toHaveLength(0);
  });

  it.each([1, 2])('are refused, with the place, when %i of three bytes end them', async (count) => {
    const before = Buffer.from('{"prompt":"ä�');
    const end = Buffer.from('\u{ffff}').subarray(0, count);
    const answer = await post('/v1/completions', Buffer.concat([before, end]));
    expect([answer.status, answer.body.error]).toMatchObject([
      400,
      { message: expect.stringMatching(new RegExp(`from byte ${before.length} on$`)) },
    ]);
  });

  it('may hold any character, also the one that stands for wrong bytes', async () => {
    const text = 'ä\u0000\u{10FFFF}�🌦 e\u0301';
    expect((await post('/v1/completions', bodyWith(text))).status).toBe(200);
    expect(prompt()).toBe(text);
  });

  it('may begin with a mark of their order, once', async () => {
    expect((await post('/v1/completions', Buffer.concat([bom, bodyWith('a')]))).status).toBe(200);
    const twice = await post('/v1/completions', Buffer.concat([bom, bom, bodyWith('a')]));
    expect([twice.status, twice.body.error]).toMatchObject([400, { code: 'invalid_json' }]);
    const nothing = await post('/v1/completions', bom);
    expect([nothing.status, nothing.body.error]).toMatchObject([400, { code: 'invalid_json' }]);
    const utf16 = Buffer.from(`\uFEFF${bodyWith('a')}`, 'utf16le');
    expect((await post('/v1/completions', utf16)).status).toBe(400);
  });

  it.each([
    ['gzip', 415],
    ['br', 415],
    ['Identity', 200],
    ['', 200],
    [' \t', 200],
  ])('are taken as they are: a content-encoding of %j is a %i', async (coding, status) => {
    const plain = bodyWith('a');
    const answer = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
      body: new Uint8Array(coding === 'gzip' ? gzipSync(plain) : plain),
    });
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(answer.headers.get('accept-encoding')).toBe('identity');
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'unsupported_media_type',
        param: null,
        message: expect.stringMatching(/content-encoding/),
      },
    });
  });

  it('may come in pieces that end within a character', async () => {
    const body = bodyWith('ä世🌦');
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setNoDelay(true).on('data', (chunk) => {
      received += String(chunk);
    });
    const head = ['POST /v1/completions HTTP/1.1', 'host: x', 'content-type: application/json'];
    const close = ['connection: close', 'transfer-encoding: chunked', '', ''];
    socket.write([...head, ...close].join('\r\n'));
    for (const byte of body) {
      socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
      // Each byte a chunk, and most of them a packet.
      await sleep(0);
    }
    socket.write('0\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(prompt()).toBe('ä世🌦');
  });
});
