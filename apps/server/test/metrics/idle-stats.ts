import type { WorkerStats } from '../../src/worker/messages.js';

/** Counters of an engine that has done nothing, and has one page. */
export const idleStats: WorkerStats = {
  device: { experts: undefined, bytes: undefined },
  outputBacklogSteps: 0,
  thread: { lagSeconds: 0, gcSeconds: 0 },
  waiting: 0,
  waitingTokens: 0,
  running: 0,
  pages: { total: 1, free: 1, evictable: 0, pinned: 0, reserved: 0 },
  prefixCache: { queries: 0, hits: 0 },
  ledgerErrors: 0,
  scheduling: {
    preemptions: 0,
    preempted: 0,
    expired: 0,
    sharePreemptions: 0,
    tenantsAtShare: 0,
    largestTenantPages: 0,
  },
  steps: 0,
  promptTokens: 0,
  generatedTokens: 0,
  graphs: {
    buckets: [],
    dropped: [],
    eagerSteps: 0,
    fedSteps: 0,
    changedSteps: 0,
    workspaceBytes: 0,
  },
  lookAhead: {
    isEnabled: false,
    aheadSteps: 0,
    waits: { grammar: 0, pages: 0, failure: 0 },
    discardedTokens: 0,
  },
};
