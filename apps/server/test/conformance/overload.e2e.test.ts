import { rmSync } from 'node:fs';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { heapBytes } from '../../bench/load/soak.js';
import { startWatched } from '../../bench/load/watched-server.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';
import { type MockServer, makeMockFolder, metricOf } from './makers/mock-server.js';
import { messages, post } from './makers/requests.js';

const posts = 10_000;

describe('too many requests', () => {
  const started: Pick<MockServer, 'dispose'>[] = [];
  let scripted: ScriptedServer | undefined;
  afterEach(async () => {
    for (const server of started.splice(0)) server.dispose();
    await scripted?.close();
    scripted = undefined;
  });

  it(`C40: of ${posts} at once as many get in as there are places, and the others are told when to come`, async () => {
    const [running, waiting] = [16, 100];
    // A step takes longer than all the posts.
    const folder = makeMockFolder();
    const server = await startWatched([
      ...['--tokenizer', folder, '--mock-engine', '{"decodeMs":120000}'],
      ...['--max-num-seqs', String(running), '--max-num-queued-reqs', String(waiting)],
      ...['--log-level', 'warn'],
    ]);
    started.push({
      dispose: () => {
        server.child.kill('SIGKILL');
        rmSync(folder, { recursive: true, force: true });
      },
    });
    const dispatcher = new Agent({ connections: 400 });
    const body = JSON.stringify({ model: 'mock', prompt: 'abc', max_tokens: 20 });
    const headers = { 'content-type': 'application/json' };
    const answers = new Map<string, number>();
    const send = async (): Promise<void> => {
      const answer = await request(`${server.url}/v1/completions`, {
        method: 'POST',
        headers,
        body,
        dispatcher,
      });
      const { error } = (await answer.body.json()) as { error?: { code: string } };
      const hasTime =
        Number(answer.headers['retry-after-ms']) > 0 && Number(answer.headers['retry-after']) > 0;
      const kind = `${answer.statusCode} ${error?.code} ${hasTime}`;
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
    };
    const sent = (count: number) =>
      Array.from({ length: count }, () => send().catch(() => undefined));
    const all = sent(posts / 4);
    const seen = (): number => answers.get('503 overloaded true') ?? 0;
    await waitFor(() => seen() === posts / 4 - running - waiting, 60_000);
    // Of what is left when garbage is gone; what is in memory depends on when that was last done.
    const before = heapBytes(await server.read({ collectGarbage: true }));
    all.push(...sent((3 * posts) / 4));
    await waitFor(() => seen() >= posts - running - waiting, 120_000);
    expect([...answers]).toEqual([['503 overloaded true', posts - running - waiting]]);
    const places = ['running', 'waiting'].map((state) =>
      metricOf(server.url, `vllm:num_requests_${state}{`),
    );
    const [runs = 0, waits = 0] = await Promise.all(places);
    expect(runs + waits).toBe(running + waiting);
    expect(runs).toBeGreaterThan(0);
    const growth = heapBytes(await server.read({ collectGarbage: true })) - before;
    expect(growth).toBeLessThan(16 * 2 ** 20);
    server.child.kill('SIGKILL');
    await Promise.all(all);
    await dispatcher.destroy();
  }, 200_000);

  it.each([429, 503] as const)(
    'C41: are refused with %i if the flag says so, and counted',
    async (status) => {
      scripted = await startScripted({ overloadStatus: status });
      const refusal = {
        name: 'CapacityError',
        code: 'ENGINE_CAPACITY',
        message: 'full',
        facts: { reason: 'queue' },
      };
      scripted.engine.scripts = [{ text: '', refusal }];
      for (let n = 0; n < 3; n += 1) {
        const answer = await post(`${scripted.url}/v1/chat/completions`, { model: 'm3', messages });
        expect([answer.status, await answer.json()]).toMatchObject([
          status,
          { error: { code: 'overloaded' } },
        ]);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      scripted.context.isDraining = true;
      await post(`${scripted.url}/v1/chat/completions`, { model: 'm3', messages });
      const metrics = await scripted.context.metrics.exposition();
      const rejected = (reason: string): string | undefined =>
        metrics
          .split('\n')
          .filter((line) => line.startsWith('vllm:admission_rejections_total{'))
          .find((line) => line.includes(`"${reason}"`))
          ?.split(' ')
          .at(-1);
      expect([rejected('queue_full'), rejected('draining')]).toEqual(['3', '1']);
      const answered = `http_requests_total{handler="/v1/chat/completions",method="POST",status="${status}"}`;
      expect(metrics).toContain(`${answered} ${status === 503 ? 4 : 3}`);
    },
  );
});

describe('many requests', () => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  it('C44: leave no memory behind', async () => {
    server = await startScripted({ logRequests: false });
    server.engine.scripts = [{ text: 'Hello there, how are you?' }];
    // What the engine calls back holds all that a request is made of.
    const listeners: WeakRef<object>[] = [];
    const submit = server.engine.submit.bind(server.engine);
    server.engine.submit = (prompt, parameters, listener) => {
      listeners.push(new WeakRef(listener));
      return submit(prompt, parameters, listener);
    };
    const round = async (count: number): Promise<number> => {
      const ask = async (number: number): Promise<void> => {
        const shape = { stream: number % 2 === 0, n: 1 + (number % 3), logprobs: number % 4 === 0 };
        const body = { model: 'm3', messages, ...shape };
        await (await post(`${server.url}/v1/chat/completions`, body)).text();
      };
      for (let n = 0; n < count; n += 20) {
        await Promise.all(Array.from({ length: 20 }, (_, number) => ask(number)));
        server.engine.received.length = 0;
      }
      for (let n = 0; n < 3; n += 1) {
        globalThis.gc?.();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return process.memoryUsage().heapUsed;
    };
    await round(400);
    const first = await round(300);
    const last = await round(300);
    expect(listeners.length).toBeGreaterThan(1500);
    const alive = listeners.filter((listener) => listener.deref() !== undefined);
    expect(alive.length).toBeLessThan(20);
    expect((last - first) / 300).toBeLessThan(2000);
    expect(server.context.active.size).toBe(0);
  });
});
