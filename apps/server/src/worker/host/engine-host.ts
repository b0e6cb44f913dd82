import { open, probe, type Runtime } from '@altstream/cuda-runtime';
import { defaultGraphSizes, Engine } from '@altstream/engine';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import type { LoadProgress } from '../engine-link.js';
import type { EngineWorkerOptions } from '../messages.js';
import { engineInfo, engineLimits } from './engine-facts.js';
import { ExpertWatch } from './expert-watch.js';
import type { EngineHostReports, HostedEngine } from './hosted-engine.js';
import { openTrace } from './trace-file.js';

const progressEveryBytes = 64 * 2 ** 20;

/** Opens the runtime, loads the model, captures the graphs; reports each phase. */
export async function startEngine(
  options: EngineWorkerOptions,
  { onProgress, onFault, onWarning, watch }: EngineHostReports,
): Promise<HostedEngine> {
  onProgress({ phase: 'runtime', done: 0, total: 1 });
  const device = await chooseDevice(options.device);
  const runtime = await openRuntime(device, options);
  const model = await loadModel(options, runtime, onProgress);
  onProgress({ phase: 'graphs', done: 0, total: 1 });
  const trace = options.traceFile === undefined ? undefined : openTrace(options.traceFile);
  const experts = new ExpertWatch(model);
  const engine = await Engine.create({
    model: experts,
    ...engineLimits(options, { watch, onFault, onLedgerError: onWarning, onTrace: trace?.write }),
    ...(options.memoryFraction === undefined ? {} : { memoryFraction: options.memoryFraction }),
    ...(options.graphSizes === undefined ? {} : { graphSizes: options.graphSizes }),
  });
  try {
    experts.begin(options.maxBatchedTokens);
  } catch (error) {
    // A metric is missing then, and nothing else.
    onWarning(error as Error);
  }
  return {
    engine,
    runtime,
    facts: () => ({ experts: experts.load, bytes: runtime.stats().bytesInUse }),
    info: engineInfo(engine, model, {
      device: { ...device, sm: model.device.sm },
      runtime: runtime.describe(),
    }),
    close: async () => {
      await engine.close();
      trace?.close();
      experts.dispose();
      model.dispose();
      await runtime[Symbol.asyncDispose]();
    },
  };
}

/** What was asked for, what was taken, and why. */
interface DeviceChoice {
  readonly asked: string;
  readonly taken: 'cpu' | 'cuda';
  readonly because?: string;
}

/** `auto` takes CUDA where it works and says why where it does not. */
async function chooseDevice(asked: EngineWorkerOptions['device']): Promise<DeviceChoice> {
  if (asked !== 'auto') return { asked, taken: asked === 'cpu' ? 'cpu' : 'cuda' };
  const cuda = (await probe()).find(({ backend }) => backend === 'cuda');
  if (cuda?.usable) return { asked, taken: 'cuda' };
  return { asked, taken: 'cpu', because: `CUDA: ${cuda?.detail ?? 'not built'}` };
}

function openRuntime(
  { taken, asked }: DeviceChoice,
  { cpuThreads }: EngineWorkerOptions,
): Promise<Runtime> {
  const index = /^cuda:(\d+)$/.exec(asked)?.[1];
  return open({
    backend: taken,
    ...(index === undefined ? {} : { device: Number(index) }),
    ...(cpuThreads === undefined ? {} : { cpu: { threads: cpuThreads } }),
  });
}

function loadModel(
  options: EngineWorkerOptions,
  runtime: Runtime,
  onProgress: (progress: LoadProgress) => void,
): Promise<MiniMaxM3Model> {
  let reported = 0;
  return MiniMaxM3Model.load({
    runtime,
    directory: options.model,
    loadFormat: options.loadFormat,
    overrides: options.overrides,
    seed: options.seed,
    ...(options.simulatedRank && { tensorParallel: options.simulatedRank }),
    dtype: options.dtype === 'float32' ? 'float32' : 'bfloat16',
    overlap: options.overlap,
    sharedExpert: options.sharedExpert,
    measuredBatchSizes: options.graphSizes ?? defaultGraphSizes(options.maxSequences),
    onProgress: ({ bytes, totalBytes, tensor }) => {
      if (bytes < totalBytes && bytes - reported < progressEveryBytes) return;
      reported = bytes;
      onProgress({ phase: 'weights', done: bytes, total: totalBytes, note: tensor });
    },
  });
}
