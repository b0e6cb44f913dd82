import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';

let server: ScriptedServer;
afterEach(() => server.close());

const body = { model: 'm3', prompt: 'Hi', stream: true, max_tokens: 90_000 };

/** Sends a completion and reads nothing yet. */
function ask(): Socket {
  const { hostname, port } = new URL(server.url);
  const text = JSON.stringify(body);
  const socket = connect(Number(port), hostname).pause();
  const head = `host: localhost\r\ncontent-type: application/json\r\nconnection: close`;
  socket.write(
    `POST /v1/completions HTTP/1.0\r\n${head}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}

/** Text and number of chunks of an answer. */
function partsOf(answer: string) {
  const lines = answer.split('\n').filter((line) => line.startsWith('data: {'));
  const chunks = lines.map((line) => JSON.parse(line.slice(6)).choices[0]);
  return {
    chunks: chunks.length,
    text: chunks.map(({ text }) => text).join(''),
    tokens: chunks.map(({ logprobs }) => logprobs?.tokens.length ?? 0),
    ends: chunks.filter(({ finish_reason }) => finish_reason !== null).length,
  };
}

it('sends tokens together at the interval, the first at once', async () => {
  server = await startScripted({ streamInterval: 4 });
  server.engine.scripts = [{ text: '0 1 2 3 4 5' }];
  const answer = await fetch(`${server.url}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, logprobs: 0 }),
  });
  const { text, tokens, ends } = partsOf(await answer.text());
  expect([text, ends]).toEqual(['0 1 2 3 4 5', 1]);
  expect(tokens).toEqual([1, 4, 4, 1]);
});

it('a client that reads late gets everything, in fewer pieces, and others do not wait', async () => {
  server = await startScripted();
  const whole = '7'.repeat(30_000);
  server.engine.scripts = [{ text: whole }, { text: 'quick' }];
  const socket = ask();
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  await waitFor(() => server.engine.received.length > 0);
  const quick = await server.client.completions.create({ model: 'm3', prompt: 'a' });
  expect(quick.choices[0]?.text).toBe('quick');
  // The engine is done, whatever the client reads.
  await waitFor(() => server.engine.activity.open === 0);
  expect(answer).toBe('');
  socket.resume();
  await once(socket, 'close');
  const { text, chunks, ends } = partsOf(answer);
  expect([text.length, ends]).toEqual([30_000, 1]);
  expect(text).toBe(whole);
  expect(answer).toMatch(/data: \[DONE\]\n\n/);
  expect(chunks).toBeLessThan(29_000);
});

it('a client that reads nothing is counted as such when it is given up (S18)', async () => {
  server = await startScripted();
  server.engine.scripts = [{ text: 'y'.repeat(400), reason: 'never' }];
  const socket = ask();
  await waitFor(() => server.engine.received[0]?.isAborted === true);
  socket.destroy();
  await waitFor(() => server.context.active.size === 0);
  const text = await server.context.metrics.exposition();
  expect(text).toMatch(/altstream_aborts_total\{cause="slow_client"\} 1\n/);
  expect(text).toMatch(/altstream_aborts_total\{cause="client"\} 0\n/);
});
