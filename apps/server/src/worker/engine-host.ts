import { open, probe, type Runtime } from '@altstream/cuda-runtime';
import { defaultGraphSizes, Engine } from '@altstream/engine';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import type { LoadProgress } from './engine-link.js';
import type { EngineInfo, EngineWorkerOptions } from './messages.js';
import { openTrace } from './trace-file.js';

/** An engine on its model, on its runtime. */
export interface HostedEngine {
  readonly engine: Engine;
  readonly runtime: Runtime;
  readonly info: EngineInfo;
  close(): Promise<void>;
}

/** What an engine reports while it starts and when it gives up. */
export interface EngineHostReports {
  readonly onProgress: (progress: LoadProgress) => void;
  readonly onFault: (error: Error) => void;
  /** Told of faults that the engine lives with. */
  readonly onWarning: (error: Error) => void;
}

const progressEveryBytes = 64 * 2 ** 20;

/** Opens the runtime, loads the model, captures the graphs; reports each phase. */
export async function startEngine(
  options: EngineWorkerOptions,
  { onProgress, onFault, onWarning }: EngineHostReports,
): Promise<HostedEngine> {
  onProgress({ phase: 'runtime', done: 0, total: 1 });
  const device = await chooseDevice(options.device);
  const runtime = await openRuntime(device, options);
  const model = await loadModel(options, runtime, onProgress);
  onProgress({ phase: 'graphs', done: 0, total: 1 });
  const trace = options.traceFile === undefined ? undefined : openTrace(options.traceFile);
  const engine = await Engine.create({
    model,
    maxSequences: options.maxSequences,
    maxBatchedTokens: options.maxBatchedTokens,
    maxPartialPrefills: options.maxPartialPrefills,
    maxWaiting: options.maxWaiting,
    prefixCaching: options.prefixCaching,
    schedulingPolicy: options.schedulingPolicy,
    itlTargetMs: options.itlTargetMs,
    longPrefillTokenThreshold: options.longPrefillTokenThreshold,
    queueTimeoutMs: options.queueTimeoutMs,
    ...(trace ? { onTrace: trace.write } : {}),
    onFault,
    onLedgerError: onWarning,
    ...(options.maxModelLength === undefined ? {} : { maxModelLength: options.maxModelLength }),
    ...(options.pages === undefined ? {} : { pages: options.pages }),
    ...(options.memoryFraction === undefined ? {} : { memoryFraction: options.memoryFraction }),
    ...(options.graphSizes === undefined ? {} : { graphSizes: options.graphSizes }),
  });
  return {
    engine,
    runtime,
    info: infoOf(engine, model, { device, runtime: runtime.describe() }),
    close: async () => {
      await engine.close();
      trace?.close();
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

type Limit = 'maxModelLength' | 'maxSequences' | 'maxWaiting';

function infoOf(
  engine: Engine,
  model: MiniMaxM3Model,
  chosen: Record<string, unknown>,
): EngineInfo {
  const { pages } = engine.stats();
  const { model: _, limits, ...report } = engine.describe();
  const { maxModelLength, maxSequences, maxWaiting } = limits as Record<Limit, number>;
  return {
    vocabSize: model.vocabSize,
    maxModelLength,
    modelMaxLength: model.maxPositions,
    pageTokens: model.pageTokens,
    pages: pages.total,
    maxSequences,
    maxWaiting,
    // Structured clone refuses functions, so what crosses threads is plain JSON.
    report: JSON.parse(
      JSON.stringify({
        ...chosen,
        model: model.describe(),
        engine: { limits, ...report },
      }),
    ),
  };
}
