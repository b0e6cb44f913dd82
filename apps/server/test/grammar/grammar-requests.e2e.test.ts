import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const tool = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
});
const tools = [tool('weather'), tool('time')];

describe('grammars of requests', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server.close());

  async function post(body: object, path = 'chat/completions') {
    const messages = [{ role: 'user', content: 'Hi' }];
    const prompt = path === 'completions' ? { prompt: 'Hi' } : { messages };
    const response = await fetch(`${server.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm3', ...prompt, ...body }),
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return { status: response.status, error };
  }
  const lastGrammar = () => server.engine.received.at(-1)?.parameters.grammar;

  it('reach the engine with where the answer begins', async () => {
    const starts = { enabled: 'thoughts', disabled: 'answer', adaptive: 'either' };
    for (const [type, start] of Object.entries(starts)) {
      await post({ thinking: { type }, response_format: { type: 'json_object' } });
      expect(lastGrammar()).toMatchObject({ start, marker: 'never', grammar: { kind: 'schema' } });
    }
    await post({ regex: 'a+' }, 'completions');
    expect(lastGrammar()).toMatchObject({ start: 'answer', marker: 'never' });
    await post({ response_format: { type: 'text' } });
    expect(lastGrammar()).toBeUndefined();
  });

  it('leave the way to a tool open, or force it', async () => {
    await post({ tools, response_format: { type: 'json_object' } });
    expect(lastGrammar()).toMatchObject({ marker: 'begins' });
    await post({ tools, tool_choice: 'required' });
    expect(lastGrammar()).toMatchObject({ marker: 'inside', grammar: { kind: 'ebnf' } });
    expect(lastGrammar()?.grammar?.text).toMatch(/^root ::= [^\n]* r\d+\+ /);
    await post({ tools, tool_choice: { type: 'function', function: { name: 'time' } } });
    expect(lastGrammar()?.grammar?.text).toMatch(/name=\\"" \("time/);
    expect(lastGrammar()?.grammar?.text).not.toMatch(/weather/);
    const allowed_tools = { mode: 'required', tools: [{ function: { name: 'weather' } }] };
    await post({ tools, tool_choice: { type: 'allowed_tools', allowed_tools } });
    expect(lastGrammar()?.grammar?.text).not.toMatch(/time/);
  });

  it('hold arguments to a schema where a function, or the operator, wants that', async () => {
    await post({ tools });
    expect(lastGrammar()).toBeUndefined();
    const [weather, time] = tools;
    const checked = { ...weather, function: { ...weather?.function, strict: true } };
    await post({ tools: [checked, time], thinking: { type: 'disabled' } });
    expect(lastGrammar()).toMatchObject({ start: 'answer', marker: 'begins' });
    expect(lastGrammar()?.grammar).toBeUndefined();
    // What the other one is called with is free.
    const [, free] = /"time\\">" (r\d+)/.exec(lastGrammar()?.calls?.text ?? '') ?? [];
    expect(lastGrammar()?.calls?.text).toMatch(new RegExp(`\\n${free} ::= \\(r\\d+\\)\\*\\n`));
    expect(lastGrammar()?.calls?.text).toMatch(/^root ::= [^\n]* r\d+\+ /);
    await post({ tools: [checked], response_format: { type: 'json_object' } });
    expect(lastGrammar()).toMatchObject({ grammar: { kind: 'schema' }, calls: { kind: 'ebnf' } });
    const strict = await startScripted({ strictTools: true });
    try {
      const ask = async (more: object) => {
        const messages = [{ role: 'user' as const, content: 'Hi' }];
        const body = { model: 'm3', messages, tools, ...more };
        await strict.client.chat.completions.create(body as never);
        return strict.engine.received.at(-1)?.parameters.grammar;
      };
      const both = (await ask({ parallel_tool_calls: false }))?.calls?.text ?? '';
      expect(both).not.toMatch(/r\d+\)\*/);
      expect(both).toMatch(/^root ::= [^\n]* r\d+ "/);
      expect(await ask({ tool_choice: 'none' })).toBeUndefined();
      expect(await ask({ tools: undefined })).toBeUndefined();
      expect(strict.grammars.compiled.map(({ kind }) => kind)).toEqual(['ebnf']);
    } finally {
      await strict.close();
    }
  });

  it('refuse a strict function that they cannot hold a call to, and count what others lose', async () => {
    const price = { type: 'number', minimum: 0, multipleOf: 7 };
    const order = { type: 'array', items: { type: 'object', properties: { price } } };
    const parameters = { type: 'object', properties: { order, date: { not: {} } } };
    const sell = { type: 'function', function: { name: 'sell', parameters } };
    const strict = { ...sell, function: { ...sell.function, strict: true } };
    const debug = await startScripted({ debugHeaders: true });
    const ask = async (body: object) => {
      const messages = [{ role: 'user', content: 'Hi' }];
      const response = await fetch(`${debug.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm3', messages, ...body }),
      });
      const { error } = (await response.json()) as { error?: { code: string; message: string } };
      return { error, ignored: response.headers.get('x-ignored-params') };
    };
    try {
      for (const tool_choice of ['auto', 'required']) {
        const { error } = await ask({ tools: [...tools, strict], tool_choice });
        expect(error?.code).toBe('invalid_schema');
        expect(error?.message).toMatch(/"sell" is strict, .* `multipleOf` of `order\[\]\.price`/);
      }
      expect(debug.engine.received).toEqual([]);
      const forced = await ask({ tools: [sell], tool_choice: 'required', best_off: 1 });
      expect(forced.error).toBeUndefined();
      expect(forced.ignored).toBe(
        'best_off, tools.function.parameters.multipleOf, tools.function.parameters.not',
      );
      expect(await ask({ tools: [sell] })).toEqual({ error: undefined, ignored: null });
      const metrics = await (await fetch(`${debug.url}/metrics`)).text();
      for (const keyword of ['multipleOf', 'not']) {
        expect(metrics).toContain(`{field="tools.function.parameters.${keyword}"} 1\n`);
      }
    } finally {
      await debug.close();
    }
  });

  it('are refused by a server that has none', async () => {
    const none = await startScripted({ hasGrammars: false, debugHeaders: true });
    let ignored: string | null = null;
    const ask = async (more: object) => {
      const messages = [{ role: 'user', content: 'Hi' }];
      const response = await fetch(`${none.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm3', messages, ...more }),
      });
      const { error } = (await response.json()) as { error?: { code: string; param: string } };
      ignored = response.headers.get('x-ignored-params');
      return [response.status, error?.code, error?.param];
    };
    try {
      const unsupported = (param: string) => [400, 'unsupported_parameter', param];
      const format = { response_format: { type: 'json_object' } };
      expect(await ask(format)).toEqual(unsupported('response_format'));
      expect(await ask({ regex: 'a' })).toEqual(unsupported('regex'));
      const one = { type: 'function', function: { name: 'time' } };
      const allowed_tools = { mode: 'required', tools: [one] };
      for (const tool_choice of ['required', one, { type: 'allowed_tools', allowed_tools }]) {
        expect(await ask({ tools, tool_choice })).toEqual(unsupported('tool_choice'));
      }
      expect(none.engine.received).toEqual([]);
      expect([(await ask({ tools }))[0], ignored]).toEqual([200, null]);
      // Agents say so by default; it is a wish that is not met, and no error.
      const strict = tools.map((tool) => ({
        ...tool,
        function: { ...tool.function, strict: true },
      }));
      const answered = [200, undefined, undefined];
      expect([await ask({ tools: strict }), ignored]).toEqual([answered, 'tools.function.strict']);
      expect([await ask({ tools: strict, tool_choice: 'none' }), ignored]).toEqual([
        answered,
        null,
      ]);
      const received = none.engine.received.map(({ parameters }) => parameters.grammar);
      expect(received).toEqual([undefined, undefined, undefined]);
      expect(none.grammars.compiled).toEqual([]);
      const metrics = await (await fetch(`${none.url}/metrics`)).text();
      expect(metrics).toContain('ignored_fields_total{field="tools.function.strict"} 1\n');
    } finally {
      await none.close();
    }
  });

  it('are refused where they contradict each other or name what is not there', async () => {
    const format = { response_format: { type: 'json_object' } };
    const both = await post({ ...format, structured_outputs: { regex: 'a' } });
    expect([both.status, both.error?.code]).toEqual([400, 'invalid_value']);
    expect(both.error?.message).toMatch(/one constraint, and `response_format` is another/);
    const two = await post({ structured_outputs: { regex: 'a', choice: ['b'] } });
    expect(two.status).toBe(400);
    const choice = { type: 'function', function: { name: 'nope' } };
    expect((await post({ tools, tool_choice: choice })).error?.message).toMatch(/named "nope"/);
    expect((await post({ tool_choice: 'required' })).error?.message).toMatch(/needs `tools`/);
    const missing = { response_format: { type: 'json_schema', json_schema: { name: 'x' } } };
    expect((await post(missing)).error?.code).toBe('missing_required_parameter');
  });

  it('have no choices of a chat that its answer could not show', async () => {
    const unshown = [
      ...['</mm:think>', '<mm:think>x', ' \n</mm:think>x', ']<]minimax[>['],
      ...[']<]minimax[>[<tool_call>', 'a ]<]minimax[>[ b'],
    ];
    const before = server.engine.received.length;
    for (const text of unshown) {
      const { status, error } = await post({ structured_outputs: { choice: ['yes', text] } });
      expect([text, status, error?.code]).toEqual([text, 400, 'invalid_grammar']);
      expect(error?.message).toContain('`structured_outputs.choice`: [1] is ');
      expect(error?.message).toMatch(/markup of the model/);
    }
    expect(server.engine.received).toHaveLength(before);
    const shown = ['mm:think', '<tool_call>', ']<]minimax[>', 'no </mm:think>', '[e~['];
    expect((await post({ structured_outputs: { choice: shown } })).status).toBe(200);
    const text = await post({ structured_outputs: { choice: unshown } }, 'completions');
    expect(text.status).toBe(200);
  });

  it('are compiled before anything is queued', async () => {
    const before = server.engine.received.length;
    server.grammars.refusal = 'unclosed';
    const { status, error } = await post({ regex: '[ab]' });
    expect([status, error?.code, error?.message]).toEqual([
      400,
      'invalid_grammar',
      '`regex`: unclosed',
    ]);
    expect(server.engine.received).toHaveLength(before);
    server.grammars.refusal = undefined;
  });
});
