import type { FastifyReply, FastifyRequest } from 'fastify';
import { fieldError } from '../../openai/parse-body.js';
import type { SamplingFields } from '../../openai/sampling-fields.js';
import type { HttpSettings } from '../../server-context.js';
import type { WireParameters } from '../../worker/messages.js';

const timeoutHeader = 'x-request-timeout-ms';
const longestName = 256;

/** Whose turn a request takes, and what is left of its time. */
export type Turn = Pick<WireParameters, 'tenant' | 'priority' | 'timeoutMs'>;

/**
 * Tenants are keys, told apart further by the header that the operator named. The time of a request
 * runs from when it was read; its own header can only make it shorter.
 *
 * @throws ApiError 400 for a header that is no number of milliseconds
 */
export function turnOf(
  { priority }: SamplingFields,
  { request, elapsedTime }: FastifyReply,
  { tenantHeader, requestTimeoutMs }: HttpSettings,
): Turn {
  const own = ownTimeout(request.headers[timeoutHeader]);
  const limits = [requestTimeoutMs, own].filter((ms) => ms !== undefined && ms > 0) as number[];
  const timeoutMs = Math.max(0, Math.min(...limits) - elapsedTime);
  return {
    tenant: tenantOf(request, { tenantHeader }),
    ...(priority ? { priority } : {}),
    ...(limits.length > 0 ? { timeoutMs } : {}),
  };
}

/** The tenant of a request's key, told apart further by the header that the operator named. */
export function tenantOf(
  { tenant, headers }: Pick<FastifyRequest, 'tenant' | 'headers'>,
  { tenantHeader }: Pick<HttpSettings, 'tenantHeader'>,
): string {
  const named = tenantHeader === undefined ? undefined : headers[tenantHeader];
  const name = Array.isArray(named) ? named.join() : named;
  return name ? `${tenant} ${name.slice(0, longestName)}` : tenant;
}

function ownTimeout(given: string | string[] | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = Number(given);
  if (Number.isInteger(ms) && ms >= 1 && ms <= 2 ** 31 - 1) return ms;
  throw fieldError(timeoutHeader, 'expected milliseconds, an integer of 1 or more');
}
