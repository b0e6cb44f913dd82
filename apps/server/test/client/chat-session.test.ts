import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { ChatSession } from '../../src/chat/chat-session.js';
import { Conversation } from '../../src/chat/conversation.js';
import {
  type OpenAiStub,
  type StubReply,
  type StubRequest,
  startStub,
} from '../makers/openai-stub.js';
import { waitFor } from '../makers/wait-for.js';

const last = ({ messages }: StubRequest) => messages.at(-1);

describe('a chat session', () => {
  let stub: OpenAiStub | undefined;
  afterEach(() => stub?.close());

  /** A session against a scripted server; `type` writes lines as a person or a pipe does. */
  async function start(answer: (request: StubRequest) => StubReply, isTTY = false) {
    stub = await startStub(answer);
    const conversation = new Conversation({ server: stub.address, model: 'stub', system: 'Be.' });
    const input = Object.assign(new PassThrough(), { isTTY, setRawMode: () => input });
    const seen = { answers: '', notes: '' };
    const notes = Object.assign(new PassThrough(), { isTTY });
    notes.on('data', (text) => {
      seen.notes += text;
    });
    const answers = {
      write: (text: string) => {
        seen.answers += text;
      },
    };
    const output = { answers, notes };
    const session = new ChatSession({ conversation, output, input, thoughts: 'shown' });
    const until = (pattern: RegExp, where: keyof typeof seen = 'notes'): Promise<void> =>
      waitFor(() => pattern.test(seen[where]));
    return { session, conversation, input, seen, until, requests: stub.requests };
  }
  const echo = (request: StubRequest): StubReply => ({ content: `<${last(request)?.content}>` });

  it('answers every line of a pipe, with the history', async () => {
    const { session, input, seen, requests } = await start(echo);
    input.end('one\n\n//two\n/clear\nthree');
    await session.talk();
    expect(seen.answers).toBe('<one>\n</two>\n<three>\n');
    expect(seen.notes).not.toContain('> ');
    expect(requests.map(({ messages }) => messages.map(({ role }) => role).join(' '))).toEqual([
      'system user',
      'system user assistant user',
      'system user',
    ]);
  });

  it('ends a pipe with the error of the server, and leaves no trace in the history', async () => {
    const { session, conversation, input } = await start(() => ({
      status: 500,
      message: 'broken',
    }));
    input.end('one\ntwo\n');
    await expect(session.talk()).rejects.toThrow(/500: broken/);
    expect(conversation.messages).toHaveLength(1);
  });

  it('goes on after an error on a terminal', async () => {
    let fails = true;
    const answer = (request: StubRequest): StubReply => {
      const reply = fails ? { status: 500, message: 'broken' } : echo(request);
      fails = false;
      return reply;
    };
    const { session, input, seen, until } = await start(answer, true);
    const talk = session.talk();
    input.write('one\r');
    await until(/broken/);
    input.write('two\r');
    await until(/tokens/);
    input.write('/exit\r');
    await talk;
    expect(seen.answers).toBe('<two>\n');
  });

  it('asks for the results of calls and sends them in order', async () => {
    const { session, input, seen, requests } = await start((request) =>
      last(request)?.role === 'tool'
        ? { content: 'done' }
        : { calls: ['a', 'b'].map((name) => ({ name, arguments: '{}' })) },
    );
    input.end('go\n1\n2\n');
    await session.talk();
    expect(seen.answers).toBe('→ a {}\n→ b {}\ndone\n');
    expect(requests).toHaveLength(2);
    expect(requests[1]?.messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c0' }, { id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c0', content: '1' },
      { role: 'tool', tool_call_id: 'c1', content: '2' },
    ]);
  });

  it('stops the answer at the first Ctrl-C, keeps what came, and leaves at the second', async () => {
    const long = { content: 'x'.repeat(500), gapMs: 5 };
    const { session, conversation, input, seen, until } = await start(() => long, true);
    const talk = session.talk();
    input.write('go\r');
    await until(/xxx/, 'answers');
    input.write('\u0003');
    await until(/\[stopped\]/);
    const kept = conversation.messages.at(-1)?.['content'];
    expect(`${kept}\n`).toBe(seen.answers);
    input.write('\u0003');
    await talk;
    expect(session.hasLeft).toBe(true);
    expect(seen.answers.length).toBeLessThan(500);
  });

  it('warns at a Ctrl-C with nothing to stop, and forgets it once something is asked', async () => {
    const { session, input, until } = await start(echo, true);
    const talk = session.talk();
    input.write('\u0003');
    await until(/Ctrl-C again/);
    input.write('one\r');
    await until(/tokens/);
    input.write('\u0003');
    await until(/Ctrl-C again[\s\S]*Ctrl-C again/);
    expect(session.hasLeft).toBe(false);
    input.write('\u0004');
    await talk;
    expect(session.hasLeft).toBe(false);
  });

  it('sets the mode of thinking and the way in which thoughts are shown', async () => {
    const { session, input, seen, requests } = await start(() => ({
      content: 'a',
      reasoning: 'b',
    }));
    input.end('/thinking enabled\n/thoughts hidden\nx\n/thinking maybe\n/what\n/help\n');
    await session.talk();
    expect(requests[0]?.['chat_template_kwargs']).toEqual({ thinking_mode: 'enabled' });
    expect(seen.notes).not.toMatch(/^b$/m);
    expect(seen.notes).toMatch(/"maybe", expected enabled[\s\S]*\/what is no command/);
  });
});
