import type { PrefixCache } from '../pages/prefix-cache.js';

/** Limits of one step. */
export interface SchedulerOptions {
  readonly cache: PrefixCache;
  /** Most sequences that run at the same time. */
  readonly maxSequences: number;
  /** Most prompt tokens of a step. */
  readonly maxBatchedTokens: number;
  /** Most prompts that share a step's prefill. */
  readonly maxPartialPrefills: number;
  /** Most tokens of one prompt in a step; 0 = no limit of its own. */
  readonly longPrefillTokenThreshold: number;
  /** Longest that a chunk of prompts may keep decoding sequences waiting; 0 = no limit. */
  readonly itlTargetMs: number;
  /** Longest wait for the first admission; 0 = no limit. */
  readonly queueTimeoutMs: number;
  /** Of the pages, for the sequences of one tenant; default 1. */
  readonly maxTenantShare?: number;
  /** Told every call and every decision, as lines of JSON. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

/** Counters of the scheduler's decisions. */
export interface SchedulerCounts {
  /** Sequences that gave up their pages and start anew. */
  readonly preemptions: number;
  /** Of these, the ones that wait for a place at the moment. */
  readonly preempted: number;
  /** Sequences whose time was over. */
  readonly expired: number;
  /** Of the preemptions, those of a tenant that had its share of the pages. */
  readonly sharePreemptions: number;
  /** Tenants whose requests wait for no other reason at the moment. */
  readonly tenantsAtShare: number;
  /** Pages of the tenant that holds most. */
  readonly largestTenantPages: number;
}
