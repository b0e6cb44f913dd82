import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Script, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { askBothWays, type BothWays, withoutIds } from './makers/folded.js';
import { call, invoke, ns, param, tool, weather } from './makers/markup.js';
import { messages } from './makers/requests.js';

const oslo = invoke('weather', param('city', 'Oslo'), param('days', '3'));
const osloCall = { name: 'weather', arguments: '{"city":"Oslo","days":3}' };

describe('tool calls', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  async function ask(scripts: readonly Script[], more: object = {}): Promise<BothWays> {
    server.engine.scripts = [...scripts, ...scripts];
    const both = await askBothWays(server.client, {
      model: 'm3',
      messages,
      tools: [weather],
      ...more,
    });
    expect(withoutIds(both.streamed)).toEqual(withoutIds(both.whole));
    expect(both.usage.streamed).toEqual(both.usage.whole);
    return both;
  }
  const callsOf = ({ whole }: BothWays) =>
    whole.flatMap(({ calls }) => calls.map(({ id: _, ...one }) => one));

  it('C29: a free choice that calls ends with tool_calls, one that does not with stop', async () => {
    for (const choice of [undefined, 'auto']) {
      const called = await ask([{ text: call(oslo) }], { tool_choice: choice });
      expect(called.whole[0]).toMatchObject({ finishes: ['tool_calls'], content: '' });
      expect(called.content).toBeNull();
      expect(callsOf(called)).toEqual([osloCall]);
      const said = await ask([{ text: 'No need.' }], { tool_choice: choice });
      expect(said.whole[0]).toMatchObject({ finishes: ['stop'], content: 'No need.', calls: [] });
    }
  });

  it('C29: a choice that must call ends with tool_calls, a named one with stop', async () => {
    const must = await ask([{ text: call(oslo) }], { tool_choice: 'required' });
    expect(must.whole[0]?.finishes).toEqual(['tool_calls']);
    const choice = { type: 'function', function: { name: 'weather' } };
    const named = await ask([{ text: call(oslo) }], { tool_choice: choice });
    expect(named.whole[0]?.finishes).toEqual(['stop']);
    expect([callsOf(must), callsOf(named)]).toEqual([[osloCall], [osloCall]]);
  });

  it('C30: each choice has one chunk that ends it, the last one of that choice', async () => {
    const scripts: Script[] = [
      { text: `One.${call(oslo, oslo)}` },
      { text: 'Two, STOP and more', reason: 'never' },
      { text: 'Three', reason: 'length' },
    ];
    const { chunks, streamed } = await ask(scripts, { n: 3, stop: 'STOP' });
    expect(streamed.map(({ finishes }) => finishes)).toEqual([
      ['tool_calls'],
      ['stop'],
      ['length'],
    ]);
    for (const index of [0, 1, 2]) {
      const own = chunks.flatMap(({ choices }) => choices).filter((one) => one.index === index);
      expect(own.findIndex((one) => one.finish_reason !== null)).toBe(own.length - 1);
      expect(own.at(-1)?.delta).toEqual({});
    }
  });

  it('C31: a call that is cut off ends with length, never as if it were whole', async () => {
    const { whole } = await ask([{ text: call(oslo).slice(0, -45), reason: 'length' }]);
    expect(whole[0]?.finishes).toEqual(['length']);
  });

  it('C31: with tool_choice none the marker of calls cannot be drawn', async () => {
    const { whole } = await ask([{ text: 'So be it.' }], { tool_choice: 'none' });
    expect(whole[0]).toMatchObject({ calls: [], content: 'So be it.', finishes: ['stop'] });
    const marker = server.context.tokenizer.specialId(ns) ?? -1;
    const { logitBias } = server.engine.received.at(-1)?.parameters ?? {};
    expect([...(logitBias ?? [])]).toEqual([[marker, Number.NEGATIVE_INFINITY]]);
    await ask([{ text: 'x' }], { tool_choice: 'auto' });
    expect(server.engine.received.at(-1)?.parameters.logitBias).toBeUndefined();
  });

  it('C47: a marker never reaches the client, whatever became of the call', async () => {
    const broken = [
      call(oslo),
      `a ${ns} b`,
      `${ns}<tool_call>\nsorry, no tool`,
      `${ns}<tool_call>${ns}<invoke>${ns}</invoke>`,
      `${ns}${ns}<weather>${ns}`,
      call(oslo).slice(0, 40),
      `${ns}<tool_call>\n${ns}<invoke name="weather">${ns}<city>Oslo`,
    ];
    for (const text of broken) {
      for (const more of [{}, { tools: undefined }, { tool_choice: 'none' }]) {
        const { whole, chunks } = await ask([{ text }], more);
        expect(JSON.stringify([whole, chunks]), text).not.toContain(ns);
      }
    }
  });

  it('C48: arguments come while they are generated, also to the AI SDK', async () => {
    // A value that never ends: what comes of it came before its end.
    const text = `${ns}<tool_call>\n${ns}<invoke name="weather">${ns}<city>${'Llanfair '.repeat(20)}`;
    const { chunks } = await ask([{ text, reason: 'length' }]);
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(pieces.length).toBeGreaterThan(20);
    expect(pieces[0]).toMatchObject({
      index: 0,
      id: expect.any(String),
      function: { name: 'weather', arguments: '' },
    });
    for (const { id, function: called } of pieces.slice(1)) {
      expect([id, called?.name, typeof called?.arguments]).toEqual([
        undefined,
        undefined,
        'string',
      ]);
    }
    server.engine.scripts = [{ text: call(oslo) }];
    const provider = createOpenAICompatible({ name: 'm3', baseURL: `${server.url}/v1` });
    const { stream } = await provider.chatModel('m3').doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ type: 'function', name: 'weather', inputSchema: { type: 'object' } }],
    });
    const parts: { type: string }[] = [];
    for await (const part of stream) parts.push(part);
    expect(parts.filter(({ type }) => type === 'tool-input-delta').length).toBeGreaterThan(3);
    expect(parts.filter(({ type }) => type === 'tool-call')).toMatchObject([
      { toolName: 'weather', input: expect.stringContaining('Oslo') },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' } });
  });

  it('C49: cut at any token, a stream is what the whole answer is', async () => {
    const text = `See: ${call(invoke('time', param('city', '北京 "a')))}.`;
    const ids = server.context.tokenizer.encode(text, { specials: true });
    for (let end = 1; end < ids.length; end += 1) {
      const { whole } = await ask([{ text: '', ids: ids.slice(0, end), reason: 'length' }], {
        logprobs: true,
      });
      expect(whole[0]?.finishes).toEqual(['length']);
      expect(whole[0]?.logprobs).toHaveLength(end);
    }
  });

  it('C50: markup that cannot be read is a 200 with text, and is counted', async () => {
    const count = async (): Promise<number> => {
      const text = await server.context.metrics.exposition();
      const lines = text.match(/^altstream_output_faults_total\{.*\} \d+$/gm) ?? [];
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const before = await count();
    const { whole } = await ask([{ text: `Well. ${ns}<tool_call>\nno call at all` }]);
    expect(whole[0]?.content).toContain('no call at all');
    expect(whole[0]).toMatchObject({ calls: [], finishes: ['stop'] });
    expect(await count()).toBeGreaterThanOrEqual(before + 2);
    const counted = await count();
    await ask([{ text: call(oslo) }]);
    expect(await count()).toBe(counted);
  });

  it('C52: nested, empty, odd and number-like values keep their types', async () => {
    const properties = {
      at: {
        type: 'object',
        properties: { x: { type: 'number' }, names: { type: 'array', items: { type: 'string' } } },
      },
      rows: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
      code: { type: 'string' },
      zip: { type: 'string' },
      flag: { type: 'boolean' },
      big: { type: 'integer' },
      none: { type: ['string', 'null'] },
    };
    const list = (...items: string[]): string => items.map((item) => param('item', item)).join('');
    const text = call(
      invoke(
        'all',
        param('at', param('x', '1.50') + param('names', list('a', '<b>&"'))),
        param('rows', list(list('1', '2'), list('3'))),
        param('code', '{"a": [1, 2}<x> & y\n'),
        param('zip', '007'),
        param('flag', 'true'),
        param('big', '12345678901234567890'),
        param('none', 'null'),
      ),
      invoke('empty'),
    );
    const both = await ask([{ text }], { tools: [tool('all', properties), tool('empty')] });
    expect(callsOf(both)).toEqual([
      {
        name: 'all',
        arguments:
          '{"at":{"x":1.50,"names":["a","<b>&\\""]},"rows":[[1,2],[3]],"code":"{\\"a\\": [1, 2}<x> & y\\n",' +
          '"zip":"007","flag":true,"big":12345678901234567890,"none":null}',
      },
      { name: 'empty', arguments: '{}' },
    ]);
  });
});
