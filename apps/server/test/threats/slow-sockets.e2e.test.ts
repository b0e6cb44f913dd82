import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../conformance/makers/mock-server.js';
import { waitFor } from '../makers/wait-for.js';

const sockets = 2000;
const rounds = 5;

/**
 * Requests that never come to an end: in their headers, in their body, or before the first letter.
 */
const beginnings = [
  '',
  'POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-slow: ',
  'POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"model":"mock","prompt":"',
];

describe('clients that send slowly, or nothing', () => {
  let server: MockServer;
  const open: Socket[] = [];
  beforeAll(async () => {
    server = await startMock({ decodeMs: 2 }, '--log-level', 'warn');
  });
  afterAll(() => {
    for (const socket of open) socket.destroy();
    server.dispose();
  });

  /** Median time to the first token of a client that does as it should, in milliseconds. */
  async function firstToken(): Promise<number> {
    const times: number[] = [];
    while (times.length < 31) {
      const begin = performance.now();
      const answer = await fetch(`${server.url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'mock', prompt: 'abc', max_tokens: 2, stream: true }),
      });
      const reader = answer.body?.getReader();
      await reader?.read();
      times.push(performance.now() - begin);
      while (!(await reader?.read())?.done);
    }
    return times.sort((a, b) => a - b)[15] ?? Number.NaN;
  }
  /** Another letter of each; an ended one is opened anew, as an attacker would. */
  function dribble(): void {
    const { hostname, port } = new URL(server.url);
    for (let index = 0; index < sockets; index += 1) {
      const old = open[index];
      if (old && !old.destroyed) {
        if (index % beginnings.length !== 0) old.write('a');
        continue;
      }
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      open[index] = socket;
      socket.write(beginnings[index % beginnings.length] ?? '');
    }
  }

  it(`leave the others as they were: ${sockets} sockets do not double the time to a first token (S18)`, async () => {
    await firstToken();
    const before = await firstToken();
    dribble();
    await waitFor(() => open.every(({ connecting }) => !connecting), 60_000);
    const timer = setInterval(dribble, 1000);
    let least = Number.POSITIVE_INFINITY;
    try {
      // What else the machine does comes and goes; what sockets cost is there in every round.
      for (let round = 0; round < rounds && !(least < 2 * before); round += 1) {
        least = Math.min(least, await firstToken());
      }
    } finally {
      clearInterval(timer);
    }
    // What was too slow with its headers is closed after a minute, and comes back: an attacker's
    // would.
    dribble();
    await waitFor(
      () => open.every(({ connecting, destroyed }) => !connecting && !destroyed),
      60_000,
    );
    for (const socket of open) socket.destroy();
    const after = least < 2 * before ? before : await firstToken();
    expect(least).toBeLessThan(2 * Math.max(before, after));
    await waitFor(async () => (await fetch(`${server.url}/health`)).status === 200);
    expect(await server.metric('altstream_connections_refused_total')).toBe(0);
    expect(await server.metric('vllm:num_requests_waiting{')).toBe(0);
  }, 180_000);
});
