import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const messages = [{ role: 'user', content: 'Hi' }];
const thinking = { thinking: { type: 'enabled' } };

describe('what the operator settles of answers', () => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  const post = (path: string, body: object) =>
    fetch(`${server.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const chat = (more: object = {}) => post('chat/completions', { model: 'm3', messages, ...more });
  const message = async (more: object = {}) => {
    const body = (await (await chat(more)).json()) as { choices: { message: object }[] };
    return body.choices[0]?.message;
  };

  it.each([
    [['reasoning_content', 'reasoning'], { reasoning_content: 'Why.', reasoning: 'Why.' }],
    [['reasoning_content'], { reasoning_content: 'Why.' }],
    [['reasoning'], { reasoning: 'Why.' }],
  ] as const)('thoughts have the fields %j, streamed and whole', async (fields, expected) => {
    server = await startScripted({ reasoningFields: fields });
    server.engine.scripts = [{ text: 'Why.</mm:think>So.' }];
    const names = (given: object | undefined): string[] =>
      Object.keys(given ?? {}).filter((name) => name.startsWith('reasoning'));
    const whole = await message(thinking);
    expect(whole).toMatchObject({ content: 'So.', ...expected });
    expect(names(whole)).toEqual(fields);
    const text = await (await chat({ ...thinking, stream: true })).text();
    const deltas = [...text.matchAll(/"delta":(\{[^}]*\})/g)].map(([, json = '{}']) =>
      JSON.parse(json),
    );
    const thoughts = deltas.filter((delta) => names(delta).length > 0);
    expect(thoughts.length).toBeGreaterThan(0);
    for (const delta of thoughts) expect(Object.keys(delta)).toEqual(fields);
  });

  it('a chat that names no most gets the usual number of tokens, and no word of a clamp', async () => {
    server = await startScripted({ defaultMaxTokens: 7, strictMaxTokens: true });
    const asked = async (more: object = {}) => {
      const answer = await chat(more);
      expect([answer.status, answer.headers.get('x-max-tokens-clamped')]).toEqual([200, null]);
      return server.engine.received.at(-1)?.parameters.maxTokens;
    };
    expect(await asked()).toBe(7);
    expect(await asked({ max_tokens: null })).toBe(7);
    expect(await asked({ max_completion_tokens: 9 })).toBe(9);
    // Where less fits than usual.
    const prompt = server.engine.received.at(-1)?.prompt ?? [];
    const { info } = server.context;
    server.context.info = info && { ...info, maxModelLength: prompt.length + 3 };
    expect(await asked()).toBe(3);
  });

  it.each([
    ['what ended a choice has sglang’s name, too', true],
    ['without the flag it has not', false],
  ])('%s', async (_, sglangCompat) => {
    server = await startScripted({ sglangCompat });
    server.engine.scripts = [{ text: 'One. Two.' }];
    const named = (stop: unknown, reason = stop): object => ({
      stop_reason: reason,
      ...(sglangCompat && { matched_stop: stop }),
    });
    const stops = ({ matched_stop, stop_reason }: Record<string, unknown>): object => ({
      ...(stop_reason === undefined ? {} : { stop_reason }),
      ...(matched_stop === undefined ? {} : { matched_stop }),
    });
    type Body = { choices: Record<string, unknown>[] };
    for (const [path, body] of [
      ['chat/completions', { model: 'm3', messages }],
      ['completions', { model: 'm3', prompt: 'a' }],
    ] as const) {
      const whole = async (more: object) => {
        const { choices } = (await (await post(path, { ...body, ...more })).json()) as Body;
        return choices.map(stops);
      };
      expect(await whole({ stop: ' Two' })).toEqual([named(' Two')]);
      expect(await whole({ stop_token_ids: [1] })).toEqual([named(1)]);
      expect(await whole({ max_tokens: 2 })).toEqual([named(null)]);
      // The model's own end is no reason, as in vLLM, unless the request names it.
      expect(await whole({ stop: 'nowhere' })).toEqual([named(1, null)]);
      const lastOf = async (more: object) => {
        const text = await (await post(path, { ...body, ...more, stream: true })).text();
        const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(
          ([, json = '']) => JSON.parse(json) as Body,
        );
        const streamed = chunks.flatMap(({ choices }) => choices.map(stops));
        const last = streamed.pop();
        expect(streamed.length).toBeGreaterThan(2);
        for (const one of streamed) expect(one).toEqual(sglangCompat ? { matched_stop: null } : {});
        return last;
      };
      expect(await lastOf({ stop: ' Two' })).toEqual(named(' Two'));
      expect(await lastOf({ stop_token_ids: [1] })).toEqual(named(1));
      expect(await lastOf({})).toEqual(named(1, null));
    }
  });

  it('a request may leave the model out only if that is allowed', async () => {
    server = await startScripted();
    expect((await chat({ model: undefined })).status).toBe(400);
    await server.close();
    server = await startScripted({ allowMissingModel: true, servedModelNames: ['m3', 'other'] });
    for (const model of [undefined, null]) {
      const answer = await chat({ model });
      expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([
        200,
        'm3',
      ]);
    }
    expect((await post('completions', { prompt: 'a' })).status).toBe(200);
    expect((await chat({ model: 'm4' })).status).toBe(404);
    expect((await post('chat/completions', [])).status).toBe(400);
  });

  it('streams end with usage if the operator wants that', async () => {
    server = await startScripted({ forceUsage: true });
    const last = async (more: object = {}) => {
      const text = await (await chat({ stream: true, ...more })).text();
      return JSON.parse(text.split('data: ').at(-2) ?? '');
    };
    const usage = { choices: [], usage: { completion_tokens: expect.any(Number) } };
    expect(await last()).toMatchObject(usage);
    expect(await last({ stream_options: null })).toMatchObject(usage);
    expect(await last({ stream_options: { include_usage: false } })).toMatchObject(usage);
    const wrong = await chat({ stream: true, stream_options: { include_usage: 'yes' } });
    expect(wrong.status).toBe(400);
    // Where nothing is streamed nothing is changed.
    expect((await chat()).status).toBe(200);
  });

  it('fields without effect are counted, and named if the operator wants that', async () => {
    server = await startScripted({ debugHeaders: true });
    const odd = { typical_p: 0.5, 'x\r\ny': 1, made_up: 1, echo: false, user: 'a', top_k: 3 };
    const answer = await chat({ ...odd, nothing: null, separate_reasoning: true });
    expect(answer.headers.get('x-ignored-params')).toBe('typical_p, other, made_up, echo');
    const text = await post('completions', { model: 'm3', prompt: 'a', echo: true, mirostat: 1 });
    expect(text.headers.get('x-ignored-params')).toBe('mirostat');
    // A name that the server has for something of its own is no field either.
    const own = await post('completions', { model: 'm3', prompt: 'a', prompts: ['b'] });
    expect(own.headers.get('x-ignored-params')).toBe('prompts');
    expect((await chat()).headers.get('x-ignored-params')).toBeNull();
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`f${n}`, 1]));
    const named = (await chat({ ...many, stream: true })).headers.get('x-ignored-params');
    expect(named?.split(', ')).toHaveLength(20);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const counts = metrics.match(/^altstream_server_ignored_fields_total\{.*/gm);
    expect(counts?.sort()).toEqual([
      'altstream_server_ignored_fields_total{field="echo"} 1',
      'altstream_server_ignored_fields_total{field="mirostat"} 1',
      'altstream_server_ignored_fields_total{field="other"} 3',
      'altstream_server_ignored_fields_total{field="typical_p"} 1',
    ]);
    await server.close();
    server = await startScripted();
    expect((await chat(odd)).headers.get('x-ignored-params')).toBeNull();
  });

  it('texts are in the log only with --log-content (S19)', async () => {
    server = await startScripted({ logContent: true });
    server.engine.scripts = [{ text: 'Why.</mm:think>secret answer' }];
    await chat({ ...thinking, messages: [{ role: 'user', content: 'secret prompt' }], n: 2 });
    const lines = () => server.log.filter(({ msg }) => msg === 'content');
    const answer = { content: 'secret answer', reasoning: 'Why.', calls: [] };
    expect(lines()).toMatchObject([
      {
        request: expect.any(String),
        prompts: [expect.stringMatching(/secret prompt[\s\S]*<mm:think>/)],
        answers: [answer, answer],
        isCut: false,
      },
    ]);
    server.engine.scripts = [{ text: 'a'.repeat(70_000) }];
    const prompt = ['x'.repeat(70_000), 'b'];
    await post('completions', { model: 'm3', prompt, max_tokens: 80_000 });
    const { prompts, answers } = lines()[1] as {
      prompts: string[];
      answers: { content: string }[];
    };
    expect(prompts.map((text) => text.length)).toEqual([65_536, 1]);
    // The first has room for 30,000 tokens behind its prompt.
    expect(answers.map(({ content }) => content.length)).toEqual([30_000, 65_536]);
    await server.close();
    server = await startScripted();
    await chat({ messages: [{ role: 'user', content: 'secret prompt' }] });
    expect(JSON.stringify(server.log)).not.toContain('secret');
    expect(server.log.some(({ msg }) => msg === 'request')).toBe(true);
  });
});
