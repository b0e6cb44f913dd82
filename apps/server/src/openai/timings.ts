import type { RequestTiming } from '../generation/request-clock.js';
import type { Usage } from './usage.js';

/** Which measurements an answer carries. */
export interface TimingWish {
  /** llama-server's `timings`. */
  readonly timings: boolean;
  /** vLLM's `metrics`. */
  readonly metrics: boolean;
}

/**
 * Measurements of one request, beside its usage. The time of the prompt holds the wait for a place;
 * speeds of generation leave the first token out, which belongs to the prompt.
 */
export function timingFields(
  { timings, metrics }: TimingWish,
  timing: RequestTiming,
  usage: Usage,
): Record<string, unknown> {
  return {
    ...(timings ? { timings: timingsOf(timing, usage) } : {}),
    ...(metrics ? { metrics: metricsOf(timing) } : {}),
  };
}

function timingsOf(timing: RequestTiming, usage: Usage): Record<string, number | null> {
  const { ttftMs, decodeMs, tokensPerSecond } = timing;
  const cached = usage.prompt_tokens_details.cached_tokens;
  const computed = usage.prompt_tokens - cached;
  return {
    cache_n: cached,
    prompt_n: computed,
    prompt_ms: ttftMs,
    prompt_per_second: ttftMs ? (1000 * computed) / ttftMs : null,
    predicted_n: usage.completion_tokens,
    predicted_ms: decodeMs,
    predicted_per_second: tokensPerSecond,
  };
}

function metricsOf(timing: RequestTiming): Record<string, number | null> {
  return {
    ttft_ms: timing.ttftMs,
    queue_time_ms: timing.queueMs,
    generation_time_ms: timing.decodeMs,
    mean_itl_ms: timing.meanItlMs,
    tokens_per_second: timing.tokensPerSecond,
  };
}
