import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const messages = [{ role: 'user', content: 'Hi' }];

describe('hostile requests', () => {
  let server: ScriptedServer;
  beforeEach(async () => {
    server = await startScripted();
  });
  afterEach(() => server.close());

  const ask = async (body: object) => {
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm3', messages, ...body }),
    });
    const { error } = (await answer.json()) as { error?: { code: string; param: string } };
    return { status: answer.status, ...error };
  };
  const open = (text: string): Socket => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(text);
    return socket;
  };

  it('with a MiB of headers are refused early, and cost no memory (S3)', async () => {
    const bomb = `GET /v1/models HTTP/1.1\r\nhost: a\r\nx-big: ${'b'.repeat(2 ** 20)}\r\n\r\n`;
    const send = async (): Promise<string> => {
      const socket = open(bomb);
      let answer = '';
      socket.on('data', (chunk) => {
        answer += String(chunk);
      });
      await once(socket, 'close');
      return answer;
    };
    expect(await send()).toMatch(/^HTTP\/1\.1 431 .*[\s\S]*"code":"headers_too_large"/);
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 20; round += 1) await send();
    global.gc?.();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 2 ** 20);
  });

  it.each(['messages', 'tools', 'add_generation_prompt', 'chat_template', 'tokenize'])(
    'cannot set %s of the template (S9)',
    async (name) => {
      const answer = await ask({ chat_template_kwargs: { [name]: [] } });
      expect(answer).toMatchObject({ status: 400, param: `chat_template_kwargs.${name}` });
      expect(server.text.jobs).toBe(0);
    },
  );

  it('cannot bring a template, nor reach what is behind its objects (S9)', async () => {
    expect(await ask({ chat_template: '{{ range(30000000) }}' })).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
    });
    // An empty one is none.
    const jobs = server.text.jobs;
    expect(await ask({ chat_template: '' })).toMatchObject({ status: 200 });
    expect(server.text.jobs).toBe(jobs + 1);
    const kwargs = '{"constructor": {"prototype": {"a": 1}}}';
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"model":"m3","messages":[{"role":"user","content":"a"}],"chat_template_kwargs":${kwargs}}`,
    });
    expect(answer.status).toBe(400);
  });

  it('cannot make the server fetch anything (S11)', async () => {
    let asked = 0;
    const inside = createServer((_, response) => {
      asked += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(inside, 'listening');
    const { port } = inside.address() as AddressInfo;
    const hosts = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0177.0.0.1'];
    for (const host of [...hosts.map((name) => `${name}:${port}`), '169.254.169.254']) {
      const content = [{ type: 'image_url', image_url: { url: `http://${host}/` } }];
      const answer = await ask({ messages: [{ role: 'user', content }] });
      expect(answer).toMatchObject({ status: 400, code: 'unsupported_content' });
    }
    inside.close();
    expect(asked).toBe(0);
  });

  it('cannot make the server decode pictures, sounds or films (S12)', async () => {
    const data = 'data:image/png;base64,iVBORw0KGgo=';
    for (const part of [
      { type: 'image_url', image_url: { url: data } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
      { type: 'file', file: { file_data: data } },
    ]) {
      const answer = await ask({ messages: [{ role: 'user', content: [part] }] });
      expect(answer).toMatchObject({ status: 400, code: 'unsupported_content' });
    }
    expect([server.engine.received.length, server.text.jobs]).toEqual([0, 0]);
  });

  it('that never end hold nobody else up (S18)', async () => {
    const medianMs = async (): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < 15; round += 1) {
        const started = performance.now();
        expect(await ask({})).toMatchObject({ status: 200 });
        times.push(performance.now() - started);
      }
      return times.sort((a, b) => a - b)[7] ?? 0;
    };
    await medianMs();
    const alone = await medianMs();
    const head = 'POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
    const slow = Array.from({ length: 500 }, (_, index) =>
      open(index % 2 === 0 ? head : `${head}content-length: 100\r\n\r\n{"model"`),
    );
    await Promise.all(slow.map((socket) => once(socket, 'connect')));
    // What else the machine does comes and goes; what sockets cost is there in every round.
    let beside = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5 && !(beside < 2 * alone + 10); round += 1) {
      beside = Math.min(beside, await medianMs());
    }
    for (const socket of slow) socket.destroy();
    const after = beside < 2 * alone + 10 ? alone : await medianMs();
    expect(beside).toBeLessThan(2 * Math.max(alone, after) + 10);
  });
});
