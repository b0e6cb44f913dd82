import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GraphExec, Stream } from '../../src/index.js';
import { Tensor, Workspace } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { collectUntil, openPeerScene, type PeerScene } from '../makers/peer-scene.js';
import { accumulate, openTestRuntime, readInts, spin, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: PeerScene;
  let main: Stream;

  beforeEach(async () => {
    t = await openPeerScene({ backend, cpu: { poison: backend === 'cpu' } });
    main = t.main;
  });
  afterEach(() => t.runtime.dispose());

  const collect = async () => {
    for (let round = 0; round < 5; round += 1) {
      globalThis.gc?.();
      await delay(5);
    }
  };

  // What is made here is garbage when it returns, but for what the executable keeps.
  function forgetful(out: Tensor): GraphExec {
    const inner = zeros(t, main, 64);
    const graph = t.device.capture(
      () => {
        accumulate(t, main, inner, 1, 3);
        main.copy(out, inner);
      },
      { stream: main },
    );
    return graph.instantiateSync();
  }

  test('#28: parameters and operands of a launch are kept while a graph can use them', async () => {
    const out = zeros(t, main, 64);
    const before = t.runtime.stats().live['buffer'] ?? 0;
    const execs = Array.from({ length: 20 }, () => forgetful(out));
    await collect();
    for (let index = 0; index < 50; index += 1) main.fill(zeros(t, main, 64), 0xee);
    for (let launch = 1; launch <= 3; launch += 1) {
      for (const exec of execs) {
        exec.launch(main);
        expect(new Set(await readInts(main, out))).toEqual(new Set([3 * launch]));
      }
    }
    for (const exec of execs) exec.dispose();
    await collectUntil(() => (t.runtime.stats().live['buffer'] ?? 0) <= before);
    expect(t.runtime.stats().live['buffer']).toBeLessThanOrEqual(before);
  });

  test('#29: the host memory of a captured copy outlives the function that made it', async () => {
    const y = zeros(t, main, 1024);
    const capture = (ending: 'forgotten' | 'disposed') => {
      const host = t.device.allocHostSync(4096);
      new Int32Array(host.buffer).fill(77);
      const graph = t.device.capture(() => void main.copy(y, host), { stream: main });
      if (ending === 'disposed') host.dispose();
      return graph.instantiateSync();
    };
    const [forgotten, disposed] = [capture('forgotten'), capture('disposed')];
    await collect();
    const noise = Array.from({ length: 50 }, () => t.device.allocHostSync(4096));
    for (const host of noise) new Int32Array(host.buffer).fill(-1);
    for (const exec of [forgotten, disposed, forgotten]) {
      main.fill(y, 0);
      exec.launch(main);
      expect(new Set(await readInts(main, y))).toEqual(new Set([77]));
    }
  });

  test('#31: destroying one graph takes nothing from another on the same stream', async () => {
    const workspace = new Workspace(t.device);
    const out = zeros(t, main, 8);
    const make = (x: number) => {
      workspace.reset();
      return t.device.capture(
        () => {
          const part = workspace.tensor([8], 'i32');
          main.fill(part, 0);
          accumulate(t, main, part, 1, x);
          main.copy(out, part);
        },
        { stream: main },
      );
    };
    const [first, second] = [make(5), make(6)];
    const [a, b] = [first.instantiateSync(), second.instantiateSync()];
    a.launch(main);
    a.dispose();
    first.dispose();
    workspace.dispose();
    await collect();
    for (let index = 0; index < 20; index += 1) main.fill(zeros(t, main, 64), 0xee);
    b.launch(main);
    expect(new Set(await readInts(main, out))).toEqual(new Set([6]));
  });

  test('#32: dispose again does nothing, and the stream captures again', async () => {
    const y = zeros(t, main, 1);
    await main.synchronize();
    for (let round = 1; round <= 3; round += 1) {
      const graph = t.device.capture(() => accumulate(t, main, y), { stream: main });
      const exec = graph.instantiateSync();
      exec.launch(main);
      for (const object of [graph, exec, graph, exec]) object.dispose();
      expect(() => graph.instantiateSync()).toThrow(/disposed/);
      expect(() => exec.launch(main)).toThrow(/disposed/);
      expect(await readInts(main, y)).toEqual([round]);
    }
  });

  test('#34: memory of a running launch outlives its graph, its executable and its runtime', async () => {
    const other = await openTestRuntime({ backend });
    const stream = other.device.createStream();
    const y = zeros(other, stream, 1);
    const host = other.device.allocHostSync(4);
    await stream.synchronize();
    const graph = other.device.capture(
      () => {
        spin(other, stream, 100);
        accumulate(other, stream, y, 1, 9);
        stream.copy(host, y);
      },
      { stream },
    );
    const exec = graph.instantiateSync();
    exec.launch(stream);
    const { live } = other.runtime.stats();
    expect(live['buffer']).toBeGreaterThanOrEqual(2);
    for (const object of [exec, graph, y]) object.dispose();
    await collect();
    await stream.synchronize();
    expect([...new Int32Array(host.buffer)]).toEqual([9]);
    const z = zeros(other, stream, 1);
    await stream.synchronize();
    const again = other.device.capture(
      () => {
        spin(other, stream, 30);
        accumulate(other, stream, z, 1, 1);
        stream.copy(host, z);
      },
      { stream },
    );
    for (let round = 0; round < 5; round += 1) {
      const running = again.instantiateSync();
      running.launch(stream);
      running.dispose();
    }
    for (const object of [again, z]) object.dispose();
    await other.runtime.dispose();
    await collect();
    // What was launched before its runtime ended runs to its end.
    await expect.poll(() => [...new Int32Array(host.buffer)], { timeout: 5000 }).toEqual([5]);
  });

  test('#37: memory allocated after a capture is not that of its intermediates', async () => {
    const out = zeros(t, main, 256);
    await main.synchronize();
    const graph = t.device.capture(
      () => {
        const [a, b] = [zeros(t, main, 256), zeros(t, main, 256)];
        accumulate(t, main, a, 1, 4);
        main.copy(b, a);
        main.copy(out, b);
        a.dispose();
        b.dispose();
      },
      { stream: main },
    );
    const exec = graph.instantiateSync();
    const later = Array.from({ length: 40 }, () => {
      const tensor = Tensor.allocate(t.device, [256], 'i32', { stream: main });
      main.fill(tensor, 0x11);
      return tensor;
    });
    exec.launch(main).launch(main);
    expect(new Set(await readInts(main, out))).toEqual(new Set([4]));
    for (const tensor of later) {
      expect(new Set(await readInts(main, tensor))).toEqual(new Set([0x11111111]));
    }
  });
});
