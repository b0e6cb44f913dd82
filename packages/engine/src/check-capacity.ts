import { CapacityError } from './errors/index.js';
import { shareOf } from './pages/share.js';
import type { Scheduler } from './scheduler/scheduler.js';
import type { Sequence } from './sequence.js';

/** What an engine takes in. */
export interface CapacityLimits {
  /** Pages of the pool. */
  readonly pages: number;
  readonly maxSequences: number;
  readonly maxWaiting: number;
  readonly maxWaitingTokens: number;
  /** Of the requests and of the tokens, too, for one tenant. */
  readonly maxTenantShare: number;
}

/** Requests that one tenant may have under way. */
export function mostOfTenant({
  maxSequences,
  maxWaiting,
  maxTenantShare,
}: Pick<CapacityLimits, 'maxSequences' | 'maxWaiting' | 'maxTenantShare'>): number {
  return shareOf(maxWaiting + maxSequences, maxTenantShare);
}

type Load = Pick<
  Scheduler,
  'waiting' | 'running' | 'waitingTokens' | 'requestsOf' | 'waitingTokensByTenant'
>;

/** @throws CapacityError if the sequence can never fit, or too much is under way already */
export function checkCapacity(sequence: Sequence, load: Load, limits: CapacityLimits): void {
  const { mostPages } = sequence;
  if (mostPages > limits.pages) {
    const detail = `the request needs ${mostPages} pages, the pool has ${limits.pages}`;
    throw new CapacityError('never', `${detail}; ask for fewer tokens or make the pool larger`);
  }
  checkRequests(sequence, load, limits);
  if (load.waiting > 0) checkTokens(sequence, load, limits);
}

function checkRequests({ tenant }: Sequence, load: Load, limits: CapacityLimits): void {
  const { running, waiting, waitingTokens } = load;
  if (waiting + running >= limits.maxWaiting + limits.maxSequences) {
    const detail = `${running} requests run and ${waiting} wait already`;
    throw new CapacityError('queue', `${detail}; try again later`, waitingTokens);
  }
  if (limits.maxTenantShare === 1) return;
  const own = load.requestsOf(tenant);
  const mostOwn = mostOfTenant(limits);
  if (own < mostOwn) return;
  const detail = `${own} requests of this tenant run or wait already, at most ${mostOwn}`;
  throw new CapacityError('queue', `${detail}; try again later`, waitingTokens);
}

function checkTokens(
  { tenant, prompt }: Sequence,
  load: Load,
  { maxWaitingTokens: most, maxTenantShare }: CapacityLimits,
): void {
  const { waiting, waitingTokens } = load;
  let counted = waitingTokens + prompt.length;
  if (maxTenantShare < 1) {
    const tokens = load.waitingTokensByTenant();
    const mostOwn = shareOf(most, maxTenantShare);
    const held = tokens.get(tenant);
    const own = (held ?? 0) + prompt.length;
    if (held !== undefined && own > mostOwn) {
      const detail = `${held} prompt tokens of this tenant wait already, at most ${mostOwn}`;
      throw new CapacityError('tokens', `${detail}; try again later`, waitingTokens);
    }
    // One request may wait alone, however long; that of others costs nobody more than a share.
    const all = new Map([...tokens, [tenant, own]]);
    counted = Array.from(all.values()).reduce((sum, one) => sum + Math.min(one, mostOwn), 0);
  }
  if (counted <= most) return;
  const detail = `${waitingTokens} prompt tokens of ${waiting} requests wait already, at most ${most}`;
  throw new CapacityError('tokens', `${detail}; try again later`, waitingTokens);
}
