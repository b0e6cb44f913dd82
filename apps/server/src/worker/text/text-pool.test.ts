import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { TextPool } from './text-pool.js';
import type { LostCause, TextLimits } from './text-thread.js';

vi.mock('../../worker-url.js', () => ({
  workerUrl: () => new URL('../../../test/makers/gated-text-worker.mjs', import.meta.url),
}));

const stays = new AbortController().signal;
const left = { status: 499, code: 'client_closed_request' };
const tooLong = { status: 503, code: 'tokenization_timeout', message: /more than 0.1 s/ };
/** Of the worker's own time: what is done at once stays below it on the busiest machine. */
const tight = { limitMs: 100, mostWaitMs: 60_000 };

describe('the text workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-text-'));
  const done: number[] = [];
  const lost: [worker: number, cause: LostCause][] = [];
  const loads: string[] = [];
  let pool: TextPool;
  let gates = 0;
  const gate = (): string => join(folder, String(gates++));

  interface PoolSetup extends Partial<TextLimits> {
    /** File that a worker waits for before it takes a job. */
    readonly startGate?: string;
    readonly mostJobs?: number;
    readonly mostCharacters?: number;
    readonly isShared?: boolean;
  }
  function start(workers: number, setup: PoolSetup = {}): void {
    const { startGate = '', mostJobs = 100, mostCharacters = 1000, ...more } = setup;
    const { isShared = false, ...limits } = more;
    const mostWaiting = { jobs: mostJobs, characters: mostCharacters };
    for (const list of [done, lost, loads]) list.length = 0;
    pool = new TextPool(
      {
        ...{ model: startGate, template: undefined, workers, mostWaiting, limits },
        isShared: () => isShared,
      },
      {
        onDone: (worker) => done.push(worker),
        onLost: (worker, cause) => lost.push([worker, cause]),
        onLoad: ({ waiting, running }) => loads.push(`${waiting}+${running}`),
      },
    );
  }
  afterEach(() => pool.close());
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (text: string, signal = stays, tenant = 'a') =>
    pool.run({ kind: 'text', text, mostBytes: 100 }, { signal, tenant });
  /** A job that ends when its gate is opened. */
  function gated(signal = stays, tenant = 'a') {
    const file = gate();
    return { job: run(`until ${file}`, signal, tenant), open: () => writeFileSync(file, '') };
  }
  const failed = ({ message, ...facts }: { message: RegExp; [fact: string]: unknown }) =>
    expect.objectContaining({ ...facts, message: expect.stringMatching(message) });

  it('does one job after the other, if there is one of them', async () => {
    start(1);
    const first = gated();
    const second = run('at once');
    expect(loads).toEqual(['0+1', '1+1']);
    first.open();
    expect(await Promise.all([first.job, second])).toMatchObject([{ ids: [1] }, { ids: [2] }]);
    expect(loads.at(-1)).toBe('0+0');
  });

  it('does others’ jobs while one takes any time', async () => {
    start(2);
    const bomb = gated();
    for (let job = 1; job <= 5; job += 1)
      expect(await run('at once')).toMatchObject({ ids: [job] });
    expect(done).toEqual([1, 1, 1, 1, 1]);
    bomb.open();
    await bomb.job;
    expect(done.at(-1)).toBe(0);
  });

  it('starts a worker only when the others are busy', async () => {
    start(3);
    for (let job = 1; job <= 3; job += 1)
      expect(await run('at once')).toMatchObject({ ids: [job] });
    expect(done).toEqual([0, 0, 0]);
  });

  it('refuses with 503 what runs over its limit, and others go on in a new worker', async () => {
    start(1, { tokenizing: tight });
    const bomb = run('spin');
    const behind = run('at once');
    await expect(bomb).rejects.toEqual(failed(tooLong));
    await expect(behind).resolves.toMatchObject({ ids: [1] });
    expect(lost).toEqual([[0, 'time']]);
  });

  it('refuses messages whose template runs over its limit', async () => {
    start(1, { rendering: tight });
    const facts = { status: 400, code: 'invalid_value', param: 'messages' };
    await expect(run('render')).rejects.toEqual(failed({ ...facts, message: /more than 0.1 s/ }));
    expect(await run('at once')).toMatchObject({ ids: [1] });
    expect(lost).toEqual([[0, 'template']]);
  });

  it('refuses with 503 when a worker does not start', async () => {
    start(1, { startMs: 0 });
    const facts = { status: 503, code: 'tokenization_timeout' };
    await expect(run('at once')).rejects.toEqual(failed({ ...facts, message: /did not start/ }));
  });

  it('gives each worker its own limit', async () => {
    start(2, { tokenizing: tight });
    const bombs = await Promise.allSettled([run('spin'), run('spin')]);
    for (const bomb of bombs) {
      expect(bomb).toEqual({ status: 'rejected', reason: failed(tooLong) });
    }
    expect(lost.sort()).toEqual([
      [0, 'time'],
      [1, 'time'],
    ]);
    expect(await Promise.all([run('at once'), run('at once')])).toMatchObject([
      { ids: [1] },
      { ids: [1] },
    ]);
  });

  it('answers 500 for a worker that ends by itself, and goes on', async () => {
    start(1);
    const died = run('die');
    const behind = run('at once');
    const facts = { status: 500, code: 'internal_error', headers: { 'x-should-retry': 'false' } };
    await expect(died).rejects.toEqual(failed({ ...facts, message: /died as it was told/ }));
    expect(await behind).toMatchObject({ ids: [1] });
    expect(lost).toEqual([[0, 'died']]);
  });

  it('does not begin jobs whose client left', async () => {
    start(1);
    const gone = new AbortController();
    const first = gated();
    const waiting = [run('spin', gone.signal), run('spin', gone.signal)];
    const last = run('at once');
    gone.abort();
    for (const job of waiting) await expect(job).rejects.toMatchObject(left);
    await expect(run('spin', gone.signal)).rejects.toMatchObject(left);
    first.open();
    expect([await first.job, await last]).toMatchObject([{ ids: [1] }, { ids: [2] }]);
  });

  it('ends a long job whose client left, for the others', async () => {
    start(1, { unwantedMs: 50 });
    const gone = new AbortController();
    const long = run('spin', gone.signal);
    const next = run('at once');
    gone.abort();
    await expect(long).rejects.toMatchObject(left);
    expect(await next).toMatchObject({ ids: [1] });
    expect(lost).toEqual([[0, 'client']]);
  });

  it('keeps its worker for a job that ends soon after its client left', async () => {
    start(1, { unwantedMs: 60_000 });
    const gone = new AbortController();
    const short = gated(gone.signal);
    const next = run('at once');
    gone.abort();
    await expect(short.job).rejects.toMatchObject(left);
    short.open();
    expect(await next).toMatchObject({ ids: [2] });
    expect(lost).toEqual([]);
  });

  it('starts a worker to its end, though the clients of its first jobs leave before', async () => {
    const startGate = gate();
    start(1, { startGate, unwantedMs: 1000 });
    const gone = new AbortController();
    const first = run('at once', gone.signal);
    const next = run('at once');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    gone.abort();
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    await expect(first).rejects.toMatchObject(left);
    writeFileSync(startGate, '');
    expect(await next).toMatchObject({ ids: [2] });
    expect(lost).toEqual([]);
  });

  it('ends a long job whose client left before its worker had started', async () => {
    const startGate = gate();
    start(1, { startGate, unwantedMs: 50 });
    const gone = new AbortController();
    const long = run('spin', gone.signal);
    const next = run('at once');
    gone.abort();
    await expect(long).rejects.toMatchObject(left);
    writeFileSync(startGate, '');
    expect(await next).toMatchObject({ ids: [1] });
    expect(lost).toEqual([[0, 'client']]);
  });

  it('takes tenants in turn', async () => {
    start(1);
    const first = gated();
    const order: string[] = [];
    const jobs = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => {
      await run(name, stays, name[0]);
      order.push(name);
    });
    first.open();
    await Promise.all([first.job, ...jobs]);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it('leaves a worker to others when one tenant wants all of them', async () => {
    start(3, { isShared: true });
    const own = [gated(), gated(), gated()];
    expect(loads.at(-1)).toBe('1+2');
    expect(await run('at once', stays, 'b')).toMatchObject({ ids: [1] });
    expect(await run('at once', stays, 'c')).toMatchObject({ ids: [2] });
    const other = gated(stays, 'b');
    expect(loads.at(-1)).toBe('1+3');
    own[0]?.open();
    await own[0]?.job;
    // Its next one comes when one of its own has ended.
    expect(loads.at(-1)).toBe('0+3');
    for (const { open } of [...own, other]) open();
    await Promise.all([...own, other].map(({ job }) => job));
    expect(loads.at(-1)).toBe('0+0');
  });

  it('counts a job whose client left, too, as long as it has a worker', async () => {
    start(2, { isShared: true, unwantedMs: 60_000 });
    const gone = new AbortController();
    const long = gated(gone.signal);
    gone.abort();
    await expect(long.job).rejects.toMatchObject(left);
    const next = run('at once');
    expect(loads.at(-1)).toBe('1+1');
    expect(await run('at once', stays, 'b')).toMatchObject({ ids: [1] });
    expect(loads.at(-1)).toBe('1+1');
    long.open();
    await next;
    expect(loads.at(-1)).toBe('0+0');
  });

  it.each([
    ['there is one worker', 1, true],
    ['there is one tenant', 2, false],
  ])('gives a tenant all workers where %s', async (_, workers, isShared) => {
    start(workers, { isShared });
    const own = Array.from({ length: workers }, () => gated());
    expect(loads.at(-1)).toBe(`0+${workers}`);
    for (const { open } of own) open();
    await Promise.all(own.map(({ job }) => job));
  });

  it('refuses what would wait of a tenant that has its workers, and takes that of others', async () => {
    start(2, { isShared: true, mostJobs: 1 });
    const [long, waiting] = [gated(), run('at once')];
    await expect(run('at once')).rejects.toMatchObject({ code: 'overloaded' });
    expect(await run('at once', stays, 'b')).toMatchObject({ ids: [1] });
    long.open();
    await Promise.all([long.job, waiting]);
  });

  it.each([
    ['jobs', { mostJobs: 1 }],
    ['characters', { mostCharacters: 8 }],
  ])('refuses with 503 what would wait beyond its %s, and goes on', async (_, most) => {
    start(1, most);
    const first = gated();
    const gone = new AbortController();
    const waiting = run('at once', gone.signal);
    const refused = failed({ status: 503, code: 'overloaded', message: /^1 prompts wait/ });
    await expect(run('at once')).rejects.toEqual(refused);
    gone.abort();
    await expect(waiting).rejects.toMatchObject(left);
    const second = run('at once');
    first.open();
    expect([await first.job, await second]).toMatchObject([{ ids: [1] }, { ids: [2] }]);
    expect(loads.at(-1)).toBe('0+0');
  });

  it('refuses nothing while a worker has nothing to do', async () => {
    start(2, { mostJobs: 0 });
    const [one, other] = [gated(), gated()];
    await expect(run('at once')).rejects.toMatchObject({ code: 'overloaded' });
    one.open();
    await one.job;
    expect(await run('a text of more than all the characters that may wait'.repeat(99))).toEqual(
      expect.objectContaining({ ids: [2] }),
    );
    other.open();
    await other.job;
  });

  it('refuses everything with 503 when it is closed', async () => {
    start(1);
    const jobs = [gated().job, run('at once')];
    const ended = Promise.allSettled(jobs);
    await pool.close();
    const refused = { status: 'rejected', reason: { status: 503, code: 'shutting_down' } };
    expect(await ended).toMatchObject([refused, refused]);
    await expect(run('at once')).rejects.toMatchObject({ code: 'shutting_down' });
    expect(lost).toEqual([]);
  });
});
