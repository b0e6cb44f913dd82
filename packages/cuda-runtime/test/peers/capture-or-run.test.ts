import { afterEach, beforeEach, expect, test } from 'vitest';
import { captureOrRun, type Stream, type Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openPeerScene, type PeerScene } from '../makers/peer-scene.js';
import { accumulate, readInts, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: PeerScene;
  let main: Stream;
  let y: Tensor;

  beforeEach(async () => {
    t = await openPeerScene({ backend, guards: false });
    main = t.main;
    y = zeros(t, main, 1);
    await main.synchronize();
  });
  afterEach(() => t.runtime.dispose());

  test('#19: work that can be captured runs once now, and once for each later launch', async () => {
    const done = captureOrRun(main, () => accumulate(t, main, y, 1, 5));
    if (done.ran !== 'graph') throw done.reason;
    expect(await readInts(main, y)).toEqual([5]);
    done.exec.launch(main);
    expect(await readInts(main, y)).toEqual([10]);
    done.exec.dispose();
  });

  test('#19: work whose capture is broken takes effect exactly once', async () => {
    const notes: string[] = [];
    const outside = t.third.record();
    const breaking = [
      () => void t.main.isIdle(), // 900
      () => void main.wait(outside), // 905
      () => void t.side.waitStream(main).fill(zeros(t, t.side, 4), 1), // 904
      () => void zeros(t, main, 1).dispose(),
    ];
    for (const [index, fault] of breaking.entries()) {
      const done = captureOrRun(main, (stream) => {
        accumulate(t, stream, y, 1, 1);
        stream.notify(() => notes.push(`${index}`));
        fault();
        accumulate(t, stream, y, 1, 100);
      });
      expect(done.ran).toBe(index === 3 ? 'graph' : 'eager');
      if (done.ran === 'eager') expect(done.reason.code).toMatch(/^CRT_CAPTURE_/);
      expect(main.captureStatus).toBe('none');
      expect(await readInts(main, y)).toEqual([101 * (index + 1)]);
      await main.synchronize();
    }
    await new Promise(setImmediate);
    expect(notes).toEqual(['0', '1', '2', '3']);
  });

  test('#19: inside a capture the work becomes part of it, once', async () => {
    const graph = t.device.capture(
      () => expect(captureOrRun(main, () => accumulate(t, main, y)).ran).toBe('eager'),
      { stream: main },
    );
    expect(graph.nodes).toHaveLength(1);
    expect(await readInts(main, y)).toEqual([0]);
  });

  test('#19: an error of the eager run is thrown itself, also where it takes no property', () => {
    const mine = Object.freeze(new RangeError('mine'));
    const work = () => {
      if (main.captureStatus === 'none') throw mine;
      void main.isIdle();
    };
    expect(() => captureOrRun(main, work)).toThrow(mine);
  });

  test('#19: other errors are thrown, and nothing has run', async () => {
    const failure = new Error('of the user');
    const attempt = (work: (stream: Stream) => unknown) => () =>
      captureOrRun(main, (stream) => {
        accumulate(t, stream, y);
        return work(stream) as undefined;
      });
    const fail = () => {
      throw failure;
    };
    expect(attempt(fail)).toThrow(failure);
    expect(attempt(async () => undefined)).toThrow('promise');
    expect(attempt(() => y.view([7]))).toThrow('does not hold');
    expect(() => captureOrRun({} as Stream, fail)).toThrow(/`stream`/);
    expect(() => captureOrRun(main, 3 as never)).toThrow(/`work`/);
    expect(await readInts(main, y)).toEqual([0]);
    expect(t.runtime.currentStream()).not.toBe(main);
  });
});
