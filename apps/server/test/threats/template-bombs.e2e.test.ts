import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoFolder, demoIsLeftOut, leftOutBecause } from '../makers/demo-model.js';
import { type Serving, startServing } from '../makers/serving.js';

const loops = (depth: number): string =>
  depth === 0 ? '' : `{% for i${depth} in range(9000) %}${loops(depth - 1)}{% endfor %}`;
/** Doubles eight characters so many times: 25 make 256 MiB. */
const doubled = (times: number, end: string): string =>
  `{% set ns = namespace(s='12345678') %}{% for i in range(${times}) %}{% set ns.s = ns.s + ns.s %}{% endfor %}${end}`;
/** Holds on to more texts than a worker may have memory. */
const hoard = doubled(
  22,
  "{% set ns.all = [] %}{% for i in range(2000) %}{% set ns.all = ns.all + [[ns.s, i] | join('')] %}{% endfor %}",
);
/** Renders a message, and for hours where that says so. */
const template = `{% if messages[0]['content'] == 'bomb' %}${loops(4)}{% endif %}{{ messages[0]['content'] }}`;

describe.skipIf(demoIsLeftOut)(`S9: a template that takes long${leftOutBecause}`, () => {
  let folder: string;
  let server: Serving;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'altstream-'));
    const file = join(folder, 'bomb.jinja');
    writeFileSync(file, template);
    server = await startServing(
      ...['--mock-engine', '{}', '--model', demoFolder, '--chat-template', file],
      ...['--trust-request-chat-template', '--tokenizer-worker-num', '2'],
    );
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (content: string, path = 'v1/chat/completions', more: object = {}) => {
    const answer = await fetch(`${server.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'mock', messages: [{ role: 'user', content }], max_tokens: 3 },
        ...more,
      }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  it('is a 400, while the server answers others, and chats behind it get their turn', async () => {
    expect((await ask('Hello')).status).toBe(200);
    let isOver = false;
    const bomb = ask('bomb').finally(() => {
      isOver = true;
    });
    const behind = ask('Hello again');
    let probes = 0;
    while (!isOver) {
      const answer = await fetch(`${server.url}/health`);
      expect(answer.status).toBe(200);
      await answer.text();
      if (!isOver) probes += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // The thread that answers was free for all of the two seconds, and not only at their end.
    expect(probes).toBeGreaterThan(5);
    const { status, body } = await bomb;
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: {
        code: 'invalid_value',
        param: 'messages',
        message: expect.stringMatching(/template cannot be rendered .* more than 2 s/),
      },
    });
    expect((await behind).status).toBe(200);
    expect((await ask('Hello', 'apply-template')).body).toMatchObject({ prompt: 'Hello' });
    // The same of a template that came with its request.
    const own = { chat_template: template.replace('bomb', 'boom') };
    expect(await ask('boom', 'apply-template', own)).toMatchObject({ status: 400 });
    expect((await ask('bomb', 'apply-template', own)).body).toEqual({ prompt: 'bomb' });
    const cut = await ask('Hello', 'apply-template', { chat_template: '{% if %}' });
    expect(cut).toMatchObject({
      status: 400,
      body: {
        error: { param: 'chat_template', message: expect.stringMatching(/cannot be parsed/) },
      },
    });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^altstream_template_seconds_count 4$/m);
    const lost = [...metrics.matchAll(/^altstream_text_worker_lost_total\{.*\} (\d+)$/gm)];
    for (const worker of [0, 1]) {
      expect(metrics).toMatch(
        new RegExp(`^altstream_text_worker_jobs_total\\{worker="${worker}"\\} `, 'm'),
      );
    }
    expect(lost.map(([, count]) => Number(count)).reduce((sum, one) => sum + one)).toBe(2);
    expect(metrics).toMatch(/^altstream_tokenize_seconds_count 2$/m);
  }, 120_000);

  const mostAnswerBytes = 4096;

  it.each([
    ['raises', '{{ raise_exception(ns.s) }}', /refused the messages: (12345678)+/],
    ['fails with', '{{ none[ns.s](ns.s) }}', /the chat template failed/],
    ['writes', '{{ ns.s }}', /at most \d+/],
  ])(
    'is a short 400 to six at once, where it %s 256 MiB',
    async (_, end, sentence) => {
      for (const path of ['v1/chat/completions', 'apply-template']) {
        const answers = await Promise.all(
          Array.from({ length: 6 }, () => ask('Hello', path, { chat_template: doubled(25, end) })),
        );
        for (const { status, body } of answers) {
          expect([path, status, body]).toMatchObject([
            ...[path, 400, { error: { message: expect.stringMatching(sentence) } }],
          ]);
          expect(JSON.stringify(body).length).toBeLessThan(mostAnswerBytes);
        }
      }
      expect(await ask('Hello', 'apply-template')).toMatchObject({ status: 200 });
    },
    120_000,
  );

  it('is a 400 where it takes all memory of its worker, and the next one goes on', async () => {
    const message = expect.stringMatching(/reaching memory limit|more than 2 s/);
    expect(await ask('Hello', 'apply-template', { chat_template: hoard })).toMatchObject({
      status: 400,
      body: { error: { param: 'messages', message } },
    });
    expect(await ask('Hello', 'apply-template')).toMatchObject({ status: 200 });
  }, 120_000);
});

it.skipIf(demoIsLeftOut)(
  `S9: bombs of one tenant leave a text worker to others${leftOutBecause}`,
  async () => {
    const server = await startServing(
      ...['--mock-engine', '{}', '--model', demoFolder, '--api-key', 'one', 'other'],
      ...['--trust-request-chat-template', '--tokenizer-worker-num', '2'],
    );
    const ends: string[] = [];
    const ask = async (key: string, chat_template: string): Promise<number> => {
      const messages = [{ role: 'user', content: 'Hello' }];
      const answer = await fetch(`${server.url}/apply-template`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ messages, chat_template }),
      });
      await answer.text();
      ends.push(key);
      return answer.status;
    };
    try {
      const bombs = Array.from({ length: 3 }, () => ask('one', loops(4)));
      expect(await ask('other', 'x')).toBe(200);
      expect(await Promise.all(bombs)).toEqual([400, 400, 400]);
      // All of the others wait for those before them, two seconds of a processor each.
      expect(ends[0]).toBe('other');
    } finally {
      await server.stop();
    }
  },
  120_000,
);
