import { afterEach, beforeEach, expect, test } from 'vitest';
import { forkJoin, type Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import {
  collectUntil,
  errorOf,
  launchEmpty,
  numberOf,
  openPeerScene,
  type PeerScene,
  replay,
} from '../makers/peer-scene.js';
import { accumulate, readInts, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: PeerScene;
  let [main, side, third] = [] as Stream[] as [Stream, Stream, Stream];

  beforeEach(async () => {
    t = await openPeerScene({ backend });
    ({ main, side, third } = t);
  });
  afterEach(() => t.runtime.dispose());

  test('#1: a stream that waits for its own captured event, on the origin and on a fork', async () => {
    const y = zeros(t, main, 1);
    await main.synchronize();
    main.beginCapture();
    for (const stream of [main, side]) {
      stream.waitStream(main);
      accumulate(t, stream, y, 2, 1);
      const own = stream.record();
      stream.wait(own).wait(own);
      own.dispose();
    }
    main.waitStream(side);
    const graph = main.endCapture();
    expect([graph.nodes.length, graph.edges.length]).toEqual([2, 1]);
    await replay(graph, main);
    expect(await readInts(main, y)).toEqual([3]);
  });

  test('#2: an event recorded again in another capture, then destroyed', () => {
    const event = t.device.createEvent();
    main.beginCapture();
    side.beginCapture();
    launchEmpty(t, main);
    main.record(event);
    side.record(event);
    launchEmpty(t, side);
    third.wait(event);
    expect(third.captureId).toBe(side.captureId);
    event.dispose();
    expect(main.endCapture().nodes).toHaveLength(1);
    expect(side.endCapture().nodes).toHaveLength(1);
    expect(third.captureStatus).toBe('none');
  });

  test('#3: work on a forked stream is captured: nothing runs before the replay', async () => {
    const [a, b] = [zeros(t, main, 1), zeros(t, main, 1)];
    await main.synchronize();
    const graph = t.device.capture(
      () => {
        accumulate(t, main, a);
        side.waitStream(main);
        accumulate(t, main, a);
        accumulate(t, side, b);
        main.waitStream(side);
        accumulate(t, main, a);
      },
      { stream: main },
    );
    expect([graph.nodes.length, graph.edges.length]).toEqual([4, 4]);
    expect([...(await readInts(main, a)), ...(await readInts(side, b))]).toEqual([0, 0]);
    await replay(graph, main);
    expect([...(await readInts(main, a)), ...(await readInts(main, b))]).toEqual([3, 1]);
  });

  test('#4: unjoined work names the stream and its last node', () => {
    const y = zeros(t, main, 1);
    main.beginCapture();
    side.waitStream(main);
    launchEmpty(t, side);
    accumulate(t, side, y);
    const error = errorOf(() => main.endCapture());
    expect(error).toMatchObject({ code: 'CRT_CAPTURE_UNJOINED', cuda: { number: 904 } });
    expect(error?.message).toMatch(new RegExp(`side#${side.id}.*test_accumulate`));
    expect(error?.message).not.toMatch(/third#|test_empty/);
    expect(error?.hint).toContain('wait for each fork');
  });

  test('#5: a branch that throws leaves no stream capturing, and a collection is harmless', async () => {
    const failure = new Error('branch');
    const attempt = () =>
      t.device.capture(
        () =>
          forkJoin(main, [
            [side, () => launchEmpty(t, side)],
            [
              third,
              () => {
                launchEmpty(t, third);
                throw failure;
              },
            ],
          ]),
        { stream: main },
      );
    for (let round = 0; round < 20; round += 1) expect(attempt).toThrow(failure);
    expect([main, side, third].map(({ captureStatus }) => captureStatus)).toEqual(
      Array(3).fill('none'),
    );
    await collectUntil(() => t.runtime.stats().live['graph'] === 0);
    expect(t.runtime.stats().live['graph']).toBe(0);
    launchEmpty(t, side);
    await side.synchronize();
  });

  test('#8: a merge of nested captures names both, and a registry stream is one of its capture', () => {
    main.beginCapture();
    const outer = t.runtime.withStream(main, () => t.runtime.streams.get('alt'));
    outer.waitStream(main);
    side.beginCapture();
    const inner = t.runtime.withStream(side, () => t.runtime.streams.get('alt'));
    expect(inner).not.toBe(outer);
    inner.waitStream(side);
    launchEmpty(t, inner);
    side.waitStream(inner);
    const ids = [main.captureId, side.captureId];
    expect(side.endCapture().nodes).toHaveLength(1);
    expect(t.runtime.withStream(main, () => t.runtime.streams.get('alt'))).toBe(outer);
    side.beginCapture();
    const error = errorOf(() => main.waitStream(side));
    expect(error).toMatchObject({ code: 'CRT_CAPTURE_MERGE', cuda: { number: 902 } });
    expect(error?.message).toContain(`${ids[0]}`);
    expect(error?.message).toContain(`${side.captureId}`);
    for (const stream of [main, side]) stream.abortCapture();
    expect(t.runtime.streams.get('alt')).toBe(outer);
  });

  test('#12: leaves are not joined automatically', () => {
    main.beginCapture();
    for (const stream of [side, third]) {
      stream.waitStream(main);
      launchEmpty(t, stream);
    }
    main.waitStream(side);
    expect(numberOf(() => main.endCapture())).toBe(904);
    expect(third.captureStatus).toBe('none');
  });

  test('#21: a capture is on the stream that it names, else on the current one', () => {
    const seen = (options?: { stream: Stream }) => {
      let stream: Stream | undefined;
      t.device.capture((given) => {
        stream = given;
        expect(t.runtime.currentStream()).toBe(given);
        launchEmpty(t, given);
      }, options);
      return stream;
    };
    t.runtime.withStream(side, () => {
      expect(seen({ stream: main })).toBe(main);
      expect(seen()).toBe(side);
    });
    t.runtime.withStream(t.device.legacyStream, () => expect(numberOf(() => seen())).toBe(900));
    expect(seen({ stream: third })).toBe(third);
  });

  test('#22: only streams that waited take part', () => {
    const bystanders = [third, t.runtime.streams.get('alt'), t.runtime.currentStream()];
    main.beginCapture({ mode: 'global' });
    side.waitStream(main);
    launchEmpty(t, side);
    launchEmpty(t, third);
    main.waitStream(side);
    expect(side.captureStatus).toBe('active');
    for (const stream of bystanders) expect(stream.captureStatus).toBe('none');
    const graph = main.endCapture();
    expect(graph.nodes.map(({ stream }) => stream)).toEqual([`side#${side.id}`]);
  });
});
