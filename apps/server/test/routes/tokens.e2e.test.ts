import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tookTooLong, tooManyWait } from '../../src/worker/text/text-errors.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const messages = [{ role: 'user', content: 'Hé [e~[' }];

describe('prompts without the model', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server.close());

  async function post(path: string, body: unknown) {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  }

  it.each(['', '/v1'])('%s/tokenize and back', async (prefix) => {
    const { status, body } = await post(`${prefix}/tokenize`, { model: 'm3', prompt: 'Hé' });
    expect([status, body['count'], body['max_model_len']]).toEqual([200, 3, 100_000]);
    expect(body).not.toHaveProperty('token_strs');
    const back = await post(`${prefix}/detokenize`, { tokens: body['tokens'] });
    expect(back).toEqual({ status: 200, body: { prompt: 'Hé' } });
  });

  it('shows the text of each token', async () => {
    const { body } = await post('/tokenize', { prompt: 'aé', return_token_strs: true });
    expect(body['token_strs']).toEqual(['a', '\ufffd', '\ufffd']);
  });

  it('renders what the model gets, and counts it', async () => {
    const chat = { messages, chat_template_kwargs: { thinking_mode: 'disabled' } };
    const rendered = await post('/apply-template', chat);
    expect(rendered.body['prompt']).toMatch(/Hé \[e~\[\[e~\[\n\]~b\]ai\n<\/mm:think>$/);
    const counted = await post('/tokenize', chat);
    await post('/v1/chat/completions', { model: 'm3', ...chat });
    expect(counted.body['tokens']).toEqual(server.engine.received.at(-1)?.prompt);
    const decoded = await post('/detokenize', { tokens: counted.body['tokens'] });
    expect(decoded.body['prompt']).toBe(rendered.body['prompt']);
  });

  it('counts tools unless no tool may be chosen', async () => {
    const tools = [{ type: 'function', function: { name: 'find_it', parameters: {} } }];
    const shown = async (more: object): Promise<string> =>
      (await post('/apply-template', { messages, tools, ...more })).body['prompt'] ?? '';
    expect(await shown({})).toContain('find_it');
    expect(await shown({ tool_choice: 'none' })).not.toContain('find_it');
  });

  it.each([
    ['/tokenize', {}, 'missing_required_parameter', 'prompt'],
    ['/tokenize', { prompt: 'a', messages }, 'invalid_value', 'prompt'],
    ['/tokenize', { prompt: 'a', model: 'gpt-4' }, 'model_not_found', 'model'],
    ['/tokenize', { messages: [{ role: 'user' }] }, 'invalid_value', 'messages[0].content'],
    ['/tokenize', { messages, add_generation_prompt: false }, 'unsupported_parameter', /add_gen/],
    ['/detokenize', {}, 'missing_required_parameter', 'tokens'],
    ['/detokenize', { tokens: [1, 600] }, 'invalid_value', 'tokens[1]'],
    ['/detokenize', { tokens: [-1] }, 'invalid_value', 'tokens[0]'],
    ['/detokenize', { tokens: ['a'] }, 'invalid_value', 'tokens[0]'],
    ['/apply-template', { prompt: 'a' }, 'missing_required_parameter', 'messages'],
    [
      '/apply-template',
      { messages, chat_template_kwargs: { messages: [] } },
      'invalid_value',
      'chat_template_kwargs.messages',
    ],
  ])('%s %j is refused: %s', async (path, request, code, param) => {
    const { status, body } = await post(path, request);
    expect(status).toBe(code === 'model_not_found' ? 404 : 400);
    expect(body['error']).toMatchObject({
      code,
      param: param instanceof RegExp ? expect.stringMatching(param) : param,
    });
  });

  it('counts what is longer than the context, which a request to generate may not be', async () => {
    const prompt = '1+2=3; 4*5=20; 6/7 %&#!';
    const { maxModelLength } = server.context.info ?? {};
    Object.assign(server.context.info ?? {}, { maxModelLength: 10 });
    try {
      const { status, body } = await post('/tokenize', { prompt });
      expect([status, body['max_model_len']]).toEqual([200, 10]);
      expect(Number(body['count'])).toBeGreaterThan(10);
      const refused = await post('/v1/completions', { model: 'm3', prompt, max_tokens: 1 });
      expect([refused.status, refused.body['error']]).toMatchObject([
        400,
        { code: 'context_length_exceeded' },
      ]);
    } finally {
      Object.assign(server.context.info ?? {}, { maxModelLength });
    }
  });

  it('does not tokenize what cannot fit', async () => {
    Object.assign(server.context.info ?? {}, { maxModelLength: 10 });
    const { status, body } = await post('/tokenize', { prompt: 'a'.repeat(100_000) });
    expect([status, body['error']]).toMatchObject([400, { code: 'context_length_exceeded' }]);
    const seen = server.text.jobs;
    expect(
      (
        await post('/apply-template', {
          messages: [{ role: 'user', content: 'a'.repeat(100_000) }],
        })
      ).status,
    ).toBe(400);
    expect(server.text.jobs).toBe(seen);
  });

  it('a template of a request is refused unless the operator trusts those', async () => {
    const template = "{% for m in messages %}<{{ m['content'] }}>{% endfor %}[e~[";
    const chat = { model: 'm3', messages, chat_template: template };
    const paths = ['/apply-template', '/tokenize', '/v1/chat/completions'];
    const refused = { code: 'unsupported_parameter', param: 'chat_template' };
    for (const path of paths) {
      expect(await post(path, chat)).toMatchObject({ status: 400, body: { error: refused } });
    }
    const trusting = await startScripted({ trustsTemplates: true });
    const ask = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await (await fetch(trusting.url + path, request)).json()) as Record<string, never>;
    };
    try {
      const rendered = await ask('/apply-template', chat);
      expect(rendered).toEqual({ prompt: '<Hé [e~[>[e~[' });
      const { tokens } = await ask('/tokenize', chat);
      await ask('/v1/chat/completions', { ...chat, max_tokens: 1 });
      expect(trusting.engine.received.at(-1)?.prompt).toEqual(tokens);
      // Of the same text that of the template is a marker, and that of the message is none.
      const eos = trusting.context.tokenizer.specialId('[e~[');
      expect((tokens as unknown as number[]).filter((id) => id === eos)).toHaveLength(1);
      expect(await ask('/apply-template', { messages })).not.toEqual(rendered);
      // Clients that have none write an empty one.
      const usual = await ask('/apply-template', { messages });
      expect(await ask('/apply-template', { messages, chat_template: '' })).toEqual(usual);
      const { error } = await ask('/apply-template', { messages, chat_template: 7 });
      expect(error).toMatchObject({ code: 'invalid_value', param: 'chat_template' });
    } finally {
      await trusting.close();
    }
  });

  it.each([
    ['/tokenize', { prompt: 'long' }],
    ['/v1/completions', { model: 'm3', prompt: 'long', max_tokens: 1 }],
    ['/v1/chat/completions', { model: 'm3', messages, stream: true }],
  ])(
    '%s is a 503 with a time to come back when tokenizing runs over its limit',
    async (path, body) => {
      server.text.failure = tookTooLong('it takes more than 60 s');
      try {
        const headers = { 'content-type': 'application/json' };
        const request = { method: 'POST', headers, body: JSON.stringify(body) };
        const answer = await fetch(server.url + path, request);
        expect(answer.status).toBe(503);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(Number(answer.headers.get('retry-after-ms'))).toBeGreaterThanOrEqual(800);
        expect(answer.headers.get('x-should-retry')).toBeNull();
        const message = expect.stringMatching(/more than 60 s; try again later/);
        const error = { code: 'tokenization_timeout', type: 'service_unavailable_error', message };
        expect(await answer.json()).toMatchObject({ error });
      } finally {
        server.text.failure = undefined;
      }
    },
  );

  it.each([
    ['/apply-template', { messages }],
    ['/tokenize', { prompt: 'a' }],
    ['/v1/completions', { model: 'm3', prompt: 'a', max_tokens: 1 }],
    ['/v1/chat/completions', { model: 'm3', messages }],
  ])('%s takes the turn of its key and of what the operator’s header names', async (path, body) => {
    const named = await startScripted({ apiKeys: ['one'], tenantHeader: 'x-tenant' });
    try {
      for (const headers of [{}, { 'x-tenant': 'blue' }]) {
        const answer = await fetch(named.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer one', ...headers },
          body: JSON.stringify(body),
        });
        await answer.text();
        expect(answer.status).toBe(200);
      }
      expect(named.text.tenants).toEqual([
        ...[expect.stringMatching(/^\w+$/), expect.stringMatching(/^\w+ blue$/)],
      ]);
    } finally {
      await named.close();
    }
  });

  it('refuses all prompts of a request when one of them cannot wait', async () => {
    const run = server.text.run.bind(server.text);
    const signals: AbortSignal[] = [];
    server.text.run = (_, { signal }) => {
      if (signals.push(signal) === 2) return Promise.reject(tooManyWait(9));
      return new Promise((__, reject) => {
        signal.addEventListener('abort', () => reject(new Error('nobody waits for it')));
      });
    };
    try {
      const prompt = ['one', 'two', 'three'];
      const { status, body } = await post('/v1/completions', { model: 'm3', prompt });
      const message = expect.stringMatching(/^9 prompts wait .* try again later$/);
      expect(status).toBe(503);
      expect(body).toMatchObject({ error: { code: 'overloaded', message } });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    } finally {
      server.text.run = run;
    }
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/admission_rejections_total\{[^}]*reason="queue_full"[^}]*\} 1$/m);
  });
});
