import { afterEach, describe, expect, test, vi } from 'vitest';
import { ArgumentError, open } from '../../src/index.js';
import { resolveOptions } from '../../src/open-options.js';
import { readSettings } from '../../src/settings.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { accumulate, readInts, testRuntimeOf, zeros } from '../makers/test-kernels.js';

const name = 'CUDA_RUNTIME_LAUNCH_BY_GRAPH';

afterEach(() => vi.unstubAllEnvs());

describe('launchByGraph', () => {
  test.each([
    { on: true, why: 'the default' },
    { setting: '', on: true, why: 'the default' },
    { setting: '1', on: true, why: name },
    { setting: '0', on: false, why: name },
    { option: false, on: false, why: 'the option of `open`' },
    { option: true, setting: '0', on: true, why: 'the option of `open`' },
    { option: false, setting: '1', on: false, why: 'the option of `open`' },
  ])('option $option, variable $setting: $on, by $why', ({ option, setting, on, why }) => {
    const settings = readSettings(setting === undefined ? {} : { [name]: setting });
    const resolved = resolveOptions(
      option === undefined ? {} : { launchByGraph: option },
      settings,
    );
    expect(resolved).toMatchObject({ whyLaunchByGraph: why, native: { launchByGraph: on } });
  });

  test('is refused when it is neither', async () => {
    vi.stubEnv(name, 'off');
    await expect(open({ backend: 'cpu', isolated: true })).rejects.toThrow(ArgumentError);
    await expect(open({ backend: 'cpu', isolated: true })).rejects.toThrow(
      /CUDA_RUNTIME_LAUNCH_BY_GRAPH is `off`, expected 0 or 1/,
    );
    vi.stubEnv(name, '0');
    const launchByGraph = 0 as unknown as boolean;
    await expect(open({ backend: 'cpu', isolated: true, launchByGraph })).rejects.toThrow(
      /`launchByGraph` is 0, expected true or false/,
    );
  });
});

onEachBackend((backend) => {
  test('off, no launch is made by a graph, and the report says who said so', async () => {
    const runtime = await open({ backend, isolated: true, launchByGraph: false });
    const t = await testRuntimeOf(runtime);
    const stream = runtime.currentStream();
    const before = runtime.stats().launchesByGraph;
    const y = zeros(t, stream, 4);
    for (let launch = 0; launch < 40; launch += 1) accumulate(t, stream, y);
    expect(await readInts(stream, y)).toEqual([40, 40, 40, 40]);
    expect(runtime.stats().launchesByGraph).toBe(before);
    const why = backend === 'cpu' ? /no launches to save/ : /the option of `open`/;
    const { launchByGraph } = runtime.describe();
    expect(launchByGraph).toEqual({ on: false, why: expect.stringMatching(why) });
    await runtime.dispose();
  });

  test('on CUDA it is on unless something is said', async () => {
    const runtime = await open({ backend, isolated: true });
    const isOn = backend === 'cuda' && process.env[name] !== '0';
    expect(runtime.describe().launchByGraph.on).toBe(isOn);
    await runtime.dispose();
  });
});
