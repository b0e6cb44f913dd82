import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { askStreamed, askWhole } from '../../src/client/ask-chat.js';
import type { AnswerDelta } from '../../src/client/chat-answer.js';
import { decodeSpeed } from '../../src/client/decode-speed.js';
import { chooseModel } from '../../src/client/served-models.js';
import { parseServerAddress } from '../../src/client/server-address.js';
import { type OpenAiStub, type StubReply, startStub } from '../makers/openai-stub.js';
import { waitFor } from '../makers/wait-for.js';

describe('the client of chat and eval', () => {
  let stub: OpenAiStub | undefined;
  afterEach(() => stub?.close());
  const serving = async (reply: StubReply, models?: string[]) => {
    stub = await startStub(() => reply, models);
    return stub.address;
  };

  it('puts the same answer together from a whole body and from the smallest pieces', async () => {
    const at = await serving({
      content: 'é🌦 ok',
      reasoning: 'hm',
      calls: [
        { name: 'add', arguments: '{"a":1}' },
        { name: 'sub', arguments: '{}' },
      ],
    });
    const deltas: AnswerDelta[] = [];
    const whole = await askWhole(at, { model: 'stub', messages: [] });
    const streamed = await askStreamed(at, {}, { onDelta: (delta) => deltas.push(delta) });
    const { timing, ...facts } = streamed;
    expect(whole).toMatchObject(facts);
    expect(facts).toEqual({
      content: 'é🌦 ok',
      reasoning: 'hm',
      toolCalls: [
        { id: 'c0', name: 'add', arguments: '{"a":1}' },
        { id: 'c1', name: 'sub', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      completionTokens: 7,
    });
    expect(timing.lastMs).toBeGreaterThanOrEqual(timing.firstMs ?? Number.NaN);
    expect(deltas.filter(({ type }) => type === 'call-start')).toHaveLength(2);
    expect(stub?.key).toBe('Bearer k');
  });

  it('measures the speed after the first token, and only where there is one', async () => {
    let seen = 0;
    // Pieces that a busy client gets together would have no speed.
    const before = async (piece: number): Promise<void> => {
      await waitFor(() => seen === piece);
      await sleep(20);
    };
    const at = await serving({ content: 'abcde', tokens: 5, before });
    const onDelta = (): void => {
      seen += 1;
    };
    const speed = decodeSpeed(await askStreamed(at, {}, { onDelta })) ?? Number.NaN;
    expect(speed).toBeGreaterThan(0);
    expect(speed).toBeLessThan(60);
    expect(decodeSpeed(await askWhole(at, {}))).toBeUndefined();
  });

  it.each([
    [
      'the server’s sentence and what to do',
      { status: 401, message: 'bad key' },
      /401: bad key.*--api-key/,
    ],
    [
      'the error of a frame',
      { content: 'a', after: 'error-frame' as const },
      /failed within its answer: dead/,
    ],
    [
      'a stream that breaks',
      { content: 'a', after: 'cut' as const },
      /broke within its answer.*log of the server/,
    ],
    ['what is no completion', { raw: '<html>' }, /cut its answer off/],
  ])('ends with %s', async (_, reply, sentence) => {
    const at = await serving(reply);
    await expect(askStreamed(at, {})).rejects.toThrow(sentence);
  });

  it('ends with what is no completion when it is whole', async () => {
    const at = await serving({ raw: '{"choices":[]}' });
    await expect(askWhole(at, {})).rejects.toThrow(/no chat completion.*OpenAI-compatible/);
  });

  it('gives up after the time-out, and when the caller wants it', async () => {
    const at = await serving({ content: 'a', after: 'silence' });
    for (const ask of [askWhole, askStreamed]) {
      await expect(ask(at, {}, { timeoutMs: 50 })).rejects.toMatchObject({
        code: 'CLIENT_TIMEOUT',
      });
      const signal = AbortSignal.timeout(50);
      await expect(ask(at, {}, { signal })).rejects.toMatchObject({ code: 'CLIENT_ABORTED' });
    }
  });

  it('takes the first served model, and says which ones there are', async () => {
    const at = await serving({}, ['one', 'two']);
    expect(await chooseModel(at, undefined)).toBe('one');
    expect(await chooseModel(at, 'two')).toBe('two');
    await expect(chooseModel(at, 'three')).rejects.toThrow(/"three".*serves one, two/);
    const nobody = parseServerAddress('http://127.0.0.1:1');
    await expect(chooseModel(nobody, undefined)).rejects.toThrow(
      /no server answers.*altstream serve/,
    );
  });

  it('says that the address is no API', async () => {
    const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const at = parseServerAddress(`http://127.0.0.1:${port}`);
    await expect(chooseModel(at, undefined)).rejects.toThrow(/no list of models.*--base-url/);
    other.close();
  });

  it('reads addresses as OpenAI’s clients do', () => {
    expect(parseServerAddress('http://h:1').baseUrl).toBe('http://h:1/v1');
    expect(parseServerAddress('https://h/api/v1/').baseUrl).toBe('https://h/api/v1');
    for (const wrong of ['h:8000', 'ftp://h', '', 'http://u:p@h', 'http://h?k=1']) {
      expect(() => parseServerAddress(wrong)).toThrow(/--base-url/);
    }
  });
});
