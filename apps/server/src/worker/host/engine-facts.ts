import type { Engine, EngineOptions, ModelFacts } from '@altstream/engine';
import type { EngineInfo, EngineWorkerOptions } from '../messages.js';

type Listeners = Pick<EngineOptions, 'watch' | 'onFault' | 'onLedgerError'>;

/** The options of an engine that do not depend on what it runs on. */
export function engineLimits(
  options: EngineWorkerOptions,
  { onTrace, ...listeners }: Listeners & { onTrace: ((line: string) => void) | undefined },
): Omit<EngineOptions, 'model'> {
  return {
    maxSequences: options.maxSequences,
    maxBatchedTokens: options.maxBatchedTokens,
    maxPartialPrefills: options.maxPartialPrefills,
    maxWaiting: options.maxWaiting,
    // Those of a request, and the marker of calls.
    maxLogitBias: options.maxLogitBias + 1,
    prefixCaching: options.prefixCaching,
    lookAhead: options.lookAhead,
    logprobsMode: options.logprobsMode,
    schedulingPolicy: options.schedulingPolicy,
    itlTargetMs: options.itlTargetMs,
    longPrefillTokenThreshold: options.longPrefillTokenThreshold,
    queueTimeoutMs: options.queueTimeoutMs,
    maxTenantShare: options.maxTenantShare,
    ...listeners,
    ...(onTrace ? { onTrace } : {}),
    ...(options.maxWaitingTokens === undefined
      ? {}
      : { maxWaitingTokens: options.maxWaitingTokens }),
    ...(options.maxModelLength === undefined ? {} : { maxModelLength: options.maxModelLength }),
    ...(options.pages === undefined ? {} : { pages: options.pages }),
  };
}

type Limit = 'maxModelLength' | 'maxSequences' | 'maxWaiting' | 'maxTenantRequests';

/** What an engine is, as the main thread is told. */
export function engineInfo(
  engine: Engine,
  model: Omit<ModelFacts, 'pageBytes'>,
  chosen: Record<string, unknown>,
): EngineInfo {
  const { pages } = engine.stats();
  const { model: _, limits, ...report } = engine.describe();
  const { maxModelLength, ...most } = limits as Record<Limit, number>;
  return {
    vocabSize: model.vocabSize,
    maxModelLength,
    modelMaxLength: model.maxPositions,
    pageTokens: model.pageTokens,
    pages: pages.total,
    maxSequences: most.maxSequences,
    maxWaiting: most.maxWaiting,
    maxTenantRequests: most.maxTenantRequests,
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
