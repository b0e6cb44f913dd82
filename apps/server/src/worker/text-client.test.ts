import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TextClient } from './text-client.js';

vi.mock('../worker-url.js', () => ({
  workerUrl: () => new URL('../../test/makers/slow-text-worker.mjs', import.meta.url),
}));

const stays = new AbortController().signal;
const left = { status: 499, code: 'client_closed_request' };

describe('the text worker', () => {
  let client: TextClient;

  beforeEach(() => {
    client = new TextClient({ model: '', template: undefined });
  });
  afterEach(() => client.close());

  const run = (ms: number, signal: AbortSignal = stays) =>
    client.run({ kind: 'text', text: String(ms), mostBytes: 100 }, signal);

  it('does one job after the other', async () => {
    expect(await Promise.all([run(5), run(0)])).toMatchObject([{ ids: [1] }, { ids: [2] }]);
  });

  it('does not begin jobs whose client left', async () => {
    const gone = new AbortController();
    const first = run(200);
    const waiting = [run(10_000, gone.signal), run(10_000, gone.signal)];
    const last = run(0);
    gone.abort();
    for (const job of waiting) await expect(job).rejects.toMatchObject(left);
    await expect(run(10_000, gone.signal)).rejects.toMatchObject(left);
    expect([await first, await last]).toMatchObject([{ ids: [1] }, { ids: [2] }]);
  });

  it('ends a long job whose client left, for the others', async () => {
    const gone = new AbortController();
    const long = run(30_000, gone.signal);
    const next = run(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    gone.abort();
    await expect(long).rejects.toMatchObject(left);
    const started = performance.now();
    expect(await next).toMatchObject({ ids: [1] });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('keeps its worker for a short job whose client left', async () => {
    const gone = new AbortController();
    const short = run(300, gone.signal);
    const next = run(0);
    setTimeout(() => gone.abort(), 100);
    await expect(short).rejects.toMatchObject(left);
    expect(await next).toMatchObject({ ids: [2] });
  });
});
