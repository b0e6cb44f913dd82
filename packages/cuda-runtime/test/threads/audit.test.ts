import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportHandle, type LiveRecord, open } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { auditText } from '../makers/audit-text.js';
import { expectLive, liveOf } from '../makers/live-objects.js';
import { SecondThread } from '../makers/second-thread.js';
import { accumulate, type TestRuntime, testRuntimeOf, zeros } from '../makers/test-kernels.js';

// What the threads open: options that no other test uses.
const options = { strictEvents: true, launchByGraph: false } as const;

const handlesOf = (records: readonly LiveRecord[]) =>
  records.flatMap(({ holders }) => holders.filter((holder) => holder.by === 'handle'));

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeEach(async () => {
    t = await testRuntimeOf(await open({ backend, ...options }));
  });
  afterEach(() => t.runtime.dispose());
  const start = () => new SecondThread(backend, options);

  test('handles of another thread are told as its own, and go with it', async () => {
    const stream = t.device.createStream({ name: 'ours' });
    const before = liveOf(t);
    const thread = start();
    await thread.get('possess', 2);
    const records = t.runtime.audit();
    const left = records.find(({ label }) => label === 'left behind');
    const [handle] = handlesOf(left ? [left] : []);
    expect(handle).toMatchObject({ isOwn: false, isImported: false, count: 1 });
    expect(handle).not.toHaveProperty('object');
    expect(handle).not.toHaveProperty('handle');
    expect(left?.holders).toContainEqual({
      by: 'export',
      environment: handle?.environment,
      isOwn: false,
      count: 1,
    });
    const ours = handlesOf(records).filter(({ isOwn }) => isOwn);
    expect(ours.every(({ object }) => object !== undefined)).toBe(true);
    expect(ours.map(({ object }) => object?.what)).toContain(`stream ours#${stream.id}`);
    expect(new Set(ours.map(({ environment }) => environment)).size).toBe(1);
    await thread.terminate();
    await expectLive(t, before);
    expect(handlesOf(t.runtime.audit()).filter(({ isOwn }) => !isOwn)).toEqual([]);
    stream.dispose();
  });

  test('an object that two threads have has a handle of each', async () => {
    const memory = t.device.alloc(64, { label: 'both' });
    const both = () => t.runtime.audit().filter(({ label }) => label === 'both');
    const thread = start();
    const theirs = await thread.get('import', exportHandle(memory));
    expect(handlesOf(both())).toMatchObject([
      { isOwn: true, isImported: false },
      { isOwn: false, isImported: true },
    ]);
    memory.dispose();
    expect(handlesOf(both())).toMatchObject([{ isOwn: false, isImported: true }]);
    await thread.get('release', theirs);
    expect(both()).toEqual([]);
    await thread.terminate();
  });

  test('three threads make and end records while two look; each sees its own right', async () => {
    const stream = t.device.createStream({ name: 'kept' });
    const y = zeros(t, stream, 4);
    const before = liveOf(t);
    const threads = [start(), start(), start()];
    let working = threads.length;
    const works = threads.map((thread) =>
      thread.get('captures', 150).finally(() => {
        working -= 1;
      }),
    );
    const looker = start();
    do {
      const text = looker.get<string>('audit', await looker.get('runtime'));
      accumulate(t, stream, y);
      const records = t.runtime.audit();
      const kept = records.find(({ label }) => label === `kept#${stream.id}`);
      expect(handlesOf(kept ? [kept] : [])).toMatchObject([{ isOwn: true, object: { open: 1 } }]);
      const theirs: readonly LiveRecord[] = JSON.parse(await text);
      const seen = theirs.find(({ id }) => id === kept?.id);
      expect(handlesOf(seen ? [seen] : [])).toMatchObject([{ isOwn: false }]);
    } while (working > 0);
    expect(await Promise.all(works)).toEqual([150, 150, 150]);
    const streams = t.runtime.audit().filter(({ label }) => label.startsWith('thread '));
    expect(handlesOf(streams).map(({ isOwn }) => isOwn)).toEqual([false, false, false]);
    for (const thread of [...threads, looker]) await thread.terminate();
    await t.device.synchronize();
    await expectLive(t, before);
    const others = handlesOf(t.runtime.audit()).filter(({ isOwn }) => !isOwn);
    expect(others, auditText(t.runtime)).toEqual([]);
    for (const object of [y, stream]) object.dispose();
  });
});
