import { seededRandom } from '@altstream/cuda-runtime/testing';
import { buildByteTokenizer, ChatTokenizer } from '@altstream/minimax-m3-chat';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Script, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { call, invoke, param, weather } from './makers/markup.js';
import { postRaw } from './makers/raw-client.js';
import { messages } from './makers/requests.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
/** Ids of single bytes, whatever the tokenizer would merge. */
const byteIds = (bytes: Iterable<number>): number[] => {
  const ids = new Map<number, number>();
  for (let id = 0; id < tokenizer.vocabSize; id += 1) {
    const [byte, ...more] = tokenizer.bytes.bytesOf(id);
    if (byte !== undefined && more.length === 0 && !ids.has(byte)) ids.set(byte, id);
  }
  return Array.from(bytes, (byte) => ids.get(byte) ?? -1);
};
const isWellFormed = (text: string): boolean => text === Buffer.from(text).toString();

describe('text in pieces', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  async function chunksOf(script: Script, more: object = {}): Promise<ChatCompletionChunk[]> {
    server.engine.scripts = [script];
    const request = { model: 'm3', messages, stream: true, ...more } as const;
    const chunks: ChatCompletionChunk[] = [];
    for await (const chunk of await server.client.chat.completions.create(request))
      chunks.push(chunk);
    return chunks;
  }
  const contents = (chunks: readonly ChatCompletionChunk[]): string[] =>
    chunks.flatMap(({ choices }) => choices[0]?.delta.content || []);

  it('C11: a character that lies over several tokens comes whole, in one delta', async () => {
    const text = 'a🌦é–漢👩‍👩‍👧z';
    const ids = byteIds(Buffer.from(text));
    expect(contents(await chunksOf({ text: '', ids }))).toEqual([...text]);
    expect(contents(await chunksOf({ text })).join('')).toBe(text);
  });

  it('C11: bytes that are no text become U+FFFD, at the latest at the end', async () => {
    const ids = byteIds([0x61, 0xff, 0x62, 0xf0, 0x9f, 0x8c, 0x63, 0xe6, 0xbc]);
    const deltas = contents(await chunksOf({ text: '', ids }));
    expect(deltas.join('')).toBe('a�b�c�');
    expect(deltas[0]).toBe('a');
    const cut = contents(
      await chunksOf({ text: '', ids: byteIds([0xf0, 0x9f, 0x8c]), reason: 'length' }),
    );
    expect(cut).toEqual(['�']);
  });

  it('C12: no delta holds half a character, and no piece of arguments half an escape', async () => {
    const alphabet = ['🌦', '漢', 'é', '"', '\\', '\n', '\u0007', 'x', '\u2028', '<'];
    for (let seed = 0; seed < 15; seed += 1) {
      const random = seededRandom(seed);
      const text = Array.from(
        { length: 30 },
        () => alphabet[random.integer(0, alphabet.length)],
      ).join('');
      const deltas = contents(await chunksOf({ text: '', ids: byteIds(Buffer.from(text)) }));
      expect(deltas.every(isWellFormed), text).toBe(true);
      expect(deltas.join('')).toBe(text);
      const markup = call(invoke('weather', param('city', text)));
      const chunks = await chunksOf({ text: markup }, { tools: [weather] });
      const pieces = chunks.flatMap(({ choices }) =>
        (choices[0]?.delta.tool_calls ?? []).map((one) => one.function?.arguments ?? ''),
      );
      expect(JSON.parse(pieces.join(''))).toEqual({ city: text });
      for (const piece of pieces) {
        expect(isWellFormed(piece), piece).toBe(true);
        // An escape is a backslash with a letter, or with u and four digits: none is cut.
        expect(piece.replaceAll(/\\(u[0-9a-f]{4}|[^u])/gi, ''), piece).not.toContain('\\');
      }
    }
  });

  it('C13: each event goes out in one piece, with text as UTF-8 and not as escapes', async () => {
    server.engine.scripts = [{ text: '漢字 🌦 é' }];
    const body = { model: 'm3', messages, stream: true };
    const { ended } = postRaw(server.url, '/v1/chat/completions', body, 'connection: close');
    const answer = await ended();
    const chunked = Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    const pieces: string[] = [];
    for (let at = 0; at < chunked.length; ) {
      const line = chunked.indexOf('\r\n', at);
      const size = Number.parseInt(chunked.toString('latin1', at, line), 16);
      if (size > 0) pieces.push(chunked.toString('utf8', line + 2, line + 2 + size));
      at = line + 2 + size + 2;
    }
    expect(pieces.length).toBeGreaterThan(4);
    for (const piece of pieces) expect(piece).toMatch(/^data: [^\n]+\n\n$/);
    expect(pieces.join('')).toMatch(/"content":"漢"/);
    expect(pieces.join('')).not.toMatch(/\\u/);
  });
});
