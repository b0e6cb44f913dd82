import type { ChatTokenizer } from '@altstream/minimax-m3-chat';
import { parseOverrides } from '@altstream/minimax-m3-model';
import type { MockSettings } from '../config/flags/mock-settings.js';
import type { ServeFlags } from '../config/serve-flags.js';
import type { EngineWorkerOptions, MockSetup } from '../worker/messages.js';
import { deviceOf } from './device.js';

/**
 * Tokens in place of texts. A script ends as an answer of the checkpoint does, if that is known.
 */
export function mockSetup(
  { answers, ...same }: MockSettings,
  tokenizer: ChatTokenizer,
  endId: number | undefined,
): MockSetup {
  return {
    ...same,
    vocabSize: tokenizer.vocabSize,
    ...(answers && { scripts: answers.map((text) => tokenizer.encode(text, { specials: true })) }),
    ...(endId === undefined ? {} : { endId }),
  };
}

/** What the engine worker reads of the flags. */
export function workerOptions(flags: ServeFlags, model: string): Omit<EngineWorkerOptions, 'mock'> {
  return {
    model,
    loadFormat: flags.loadFormat === 'dummy' ? 'dummy' : 'safetensors',
    overrides: parseOverrides(flags.override ?? []),
    seed: flags.seed,
    simulatedRank: flags.simulateTpRank,
    memoryFraction: flags.gpuMemoryUtilization,
    device: deviceOf(flags),
    dtype: flags.dtype,
    overlap: flags.overlap,
    sharedExpert: flags.sharedExpert,
    cpuThreads: flags.cpuThreads,
    maxModelLength: flags.maxModelLen,
    maxSequences: flags.maxNumSeqs,
    maxBatchedTokens: flags.maxNumBatchedTokens,
    maxPartialPrefills: flags.maxNumPartialPrefills,
    maxWaiting: flags.maxNumQueuedReqs ?? 4 * flags.maxNumSeqs,
    maxWaitingTokens: flags.maxNumQueuedTokens,
    maxLogitBias: flags.maxLogitBias,
    schedulingPolicy: flags.schedulingPolicy,
    itlTargetMs: flags.itlTargetMs,
    longPrefillTokenThreshold: flags.longPrefillTokenThreshold,
    queueTimeoutMs: flags.queueTimeout * 1000,
    maxTenantShare: flags.maxTenantKvShare,
    traceFile: flags.recordTrace,
    pages: flags.numGpuBlocksOverride,
    prefixCaching: flags.enablePrefixCaching,
    lookAhead: flags.asyncScheduling,
    logprobsMode: flags.logprobsMode,
    graphSizes: flags.enforceEager ? [] : flags.cudaGraphSizes,
  };
}
