import { execFile } from 'node:child_process';
import { DeviceLostError, open, type Runtime } from '@altstream/cuda-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClosedError, Engine, type MarkovModel, StepError } from '../../src/index.js';
import { collect, counted, countingModel, ids } from '../makers/counting.js';
import { WatchedModel } from '../makers/watched-model.js';

describe('faults in a process that embeds the engine', () => {
  let runtime: Runtime;
  let counting: MarkovModel;

  beforeAll(async () => {
    runtime = await open({ backend: 'cpu' });
    counting = await countingModel(runtime);
  });
  afterAll(async () => {
    counting.dispose();
    await runtime.dispose();
  });

  it('C43: a lost device is an event, a call and a rejection; the process goes on', async () => {
    const model = new WatchedModel(counting);
    const faults: Error[] = [];
    const engine = await Engine.create({
      model,
      pages: 64,
      graphSizes: [],
      onFault: (error) => faults.push(error),
    });
    model.before = () => {
      throw new DeviceLostError({ api: 'test', detail: 'planted' });
    };
    const events = await collect(engine.generate([1, 2, 3]));
    expect(events).toMatchObject([
      { type: 'finish', reason: 'error', error: expect.any(StepError) },
    ]);
    expect(faults).toHaveLength(1);
    await expect(async () => collect(engine.generate([1]))).rejects.toBeInstanceOf(ClosedError);
    await engine.close();
    model.before = () => undefined;
    const next = await Engine.create({ model, pages: 64, graphSizes: [] });
    expect(ids(await collect(next.generate([4], { temperature: 0, maxTokens: 3 })))).toEqual(
      counted(4, 3),
    );
    await next.close();
  });

  it('C43: wrong arguments of every kind are errors of the caller, not an abort in native code', async () => {
    const engine = await Engine.create({ model: counting, pages: 64 });
    const wrong: readonly unknown[] = [
      null,
      undefined,
      {},
      [],
      ['a'],
      [1.5],
      [-1],
      [1e9],
      [Number.NaN],
      'abc',
      7,
    ];
    for (const prompt of wrong) {
      await expect(
        async () => collect(engine.generate(prompt as number[])),
        String(prompt),
      ).rejects.toMatchObject({ code: 'ENGINE_PROMPT' });
    }
    const parameters: readonly object[] = [
      { temperature: 'hot' },
      { topK: -2 },
      { topP: 2 },
      { maxTokens: 0 },
      { maxTokens: Number.NaN },
      { seed: 'x' },
      { stopTokenIds: new Array(300).fill(0).map((_, id) => id) },
      { logitBias: new Map([[99, 1]]) },
      { logprobs: 257 },
    ];
    for (const one of parameters) {
      await expect(
        async () => collect(engine.generate([1], one)),
        JSON.stringify(one),
      ).rejects.toMatchObject({ code: 'ENGINE_PARAMETER' });
    }
    expect(ids(await collect(engine.generate([4], { temperature: 0, maxTokens: 3 })))).toEqual(
      counted(4, 3),
    );
    await engine.close();
  });

  it('C43: a process that forgets to close its engine still ends by itself', async () => {
    const script = `
      import { open } from '@altstream/cuda-runtime';
      import { Engine, MarkovModel } from '@altstream/engine';
      const runtime = await open({ backend: 'cpu' });
      const model = await MarkovModel.create(runtime, new Float32Array(64 * 64));
      const engine = await Engine.create({ model, pages: 64 });
      for await (const event of engine.generate([1], { maxTokens: 3 })) if (event.type === 'finish') console.log(event.reason);
    `;
    const args = [
      '--conditions=@altstream/source',
      '--import=tsx',
      '--input-type=module',
      '-e',
      script,
    ];
    const cwd = new URL('../..', import.meta.url);
    const result = await new Promise<{ code: unknown; out: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        args,
        { cwd, timeout: 50_000 },
        (_, stdout, stderr) => resolve({ code: child.exitCode, out: stdout + stderr }),
      );
    });
    expect(result).toEqual({ code: 0, out: 'length\n' });
  });
});
