import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSuite } from '../../src/eval/run-suite.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { suitePromptOf } from '../makers/suite-file.js';

const ns = ']<]minimax[>[';
const call =
  `<mm:think>Oslo.</mm:think>${ns}<tool_call>\n${ns}<invoke name="weather">` +
  `${ns}<city>Oslo 🌦${ns}</city>${ns}<days>3${ns}</days>${ns}</invoke>\n${ns}</tool_call>`;
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
};
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
const wanted = {
  type: 'tool_call' as const,
  name: 'weather',
  arguments: { days: 3, city: 'Oslo 🌦' },
};

describe('a suite against this server, with a model that says what M3 says', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server.close());

  /** Each prompt is its skill's first, so it is asked both ways. */
  async function run(text: string, prompt: Parameters<typeof suitePromptOf>[1]) {
    server.engine.scripts = [{ text }];
    const address = { baseUrl: `${server.url}/v1`, apiKey: undefined };
    const options = { model: 'm3', concurrency: 1, timeoutMs: 5000 };
    const { results } = await runSuite(
      address,
      [suitePromptOf('p', { max_tokens: 500, ...prompt })],
      options,
    );
    return results[0];
  }

  it('takes the right call, and no other', async () => {
    const thinking = 'adaptive' as const;
    const right = await run(call, { tools, thinking, check: wanted });
    expect(right).toMatchObject({ isRight: true, streamAgrees: true });
    expect(right?.whole).toMatchObject({ reasoning: 'Oslo.', finishReason: 'tool_calls' });
    expect(right?.streamed?.toolCalls).toMatchObject([{ name: 'weather' }]);
    const check = { ...wanted, arguments: { days: '3', city: 'Oslo 🌦' } };
    const wrong = await run(call, { tools, thinking, check });
    expect(wrong?.reason).toMatch(/^expected arguments .*"days\\":3/);
  });

  it('reads the thinking mode of the prompt, and checks what comes after the thoughts', async () => {
    const check = { type: 'equals' as const, value: '4' };
    const enabled = await run('2 and 2.</mm:think>\n4', { thinking: 'enabled', check });
    expect(enabled).toMatchObject({ isRight: true, whole: { reasoning: '2 and 2.' } });
    const disabled = await run('4', { thinking: 'disabled', check });
    expect(disabled).toMatchObject({ isRight: true, whole: { reasoning: '' } });
  });

  it('refuses text that was cut off', async () => {
    const check = { type: 'contains' as const, value: 'He' };
    expect((await run('Hello', { max_tokens: 2, check }))?.reason).toMatch(
      /^cut off by max_tokens/,
    );
  });
});
