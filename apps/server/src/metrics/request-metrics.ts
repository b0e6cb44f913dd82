import type { ChoiceFinish, ChoiceStep } from '../generation/choice.js';
import type { RequestProgress } from '../generation/live-requests.js';
import { type PromptPiece, RequestClock, type RequestTiming } from '../generation/request-clock.js';
import { choiceBuckets, latencyBuckets, tokenBuckets } from './buckets.js';
import type { Distribution, MetricMaker } from './metric-maker.js';
import type { SglangMetrics } from './sglang-metrics.js';
import { TokenRate } from './token-rate.js';

/** What one request measured; the fields of its log line. */
export interface RequestSummary {
  /** `stop`, `length`, `abort`, or `error`. */
  readonly outcome: string;
  /** Code of the error, if one ended it. */
  readonly code?: string;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly queueMs: number | null;
  readonly ttftMs: number | null;
  /** Tokens a second after the first of each choice. */
  readonly tokensPerSecond: number | null;
  readonly totalMs: number;
}

/** What a request asks for, once its prompts are known. */
export interface RequestWish {
  readonly n: number;
  /** Tokens of each prompt. */
  readonly promptTokens: readonly number[];
  /** `max_tokens`, if it names one. */
  readonly maxTokens: number | undefined;
}

/** Follows one request. */
export interface RequestWatch {
  /** Its prompts are tokens; from here on it waits for the engine only. */
  prepared(wish: RequestWish): void;
  /** @param isFirstOfPrompt false for the further choices of a prompt, which share its tokens */
  step(step: ChoiceStep, isFirstOfPrompt: boolean): void;
  /** Its client does not read what is there for it. */
  slow(): void;
  /** @param code of the error that the client was told */
  fail(code: string): void;
  /** What was measured so far. */
  timing(): RequestTiming;
  /** The pieces in which its prompts were computed. */
  pieces(): readonly PromptPiece[];
  /** How far it is. */
  progress(): RequestProgress;
  end(): RequestSummary;
}

const causes = ['client', 'slow_client', 'operator', 'shutdown', 'deadline', 'engine'] as const;
/** Why a request ended before its answer was complete. */
export type AbortCause = (typeof causes)[number];

const rejections = ['queue_full', 'queue_tokens', 'timeout', 'draining'] as const;
/** Why a request that was well-formed got no place. */
export type Rejection = (typeof rejections)[number];

const causeOf: Readonly<Record<string, AbortCause>> = {
  request_aborted: 'operator',
  shutting_down: 'shutdown',
  deadline_exceeded: 'deadline',
  engine_dead: 'engine',
  internal_error: 'engine',
};

/** Metrics of requests: how many, how long, how large. */
export class RequestMetrics {
  /** Generated tokens a second. */
  readonly rate = new TokenRate();
  /** Tokens of prompts that got their first token, a second. */
  readonly promptRate = new TokenRate();
  readonly #make: MetricMaker;
  readonly #alias: SglangMetrics | undefined;
  readonly #waiting;
  readonly #byReason;
  readonly #finished;
  readonly #aborts;
  readonly #faults;
  readonly #rejections;
  readonly #latency;
  #sizes: Record<'prompt' | 'generation' | 'most' | 'maxTokens', Distribution> | undefined;
  readonly #choices: Distribution;
  #preparing = 0;
  #queued = 0;
  #queuedTokens = 0;
  #answered = 0;
  #unanswered = 0;

  /** @param alias gets the same under another server's names */
  constructor(vllm: MetricMaker, own: MetricMaker, alias?: SglangMetrics) {
    this.#make = vllm;
    this.#alias = alias;
    this.#waiting = vllm.gauge(
      'num_requests_waiting',
      'Sequences that wait, those of prompts in preparation, too',
    );
    this.#byReason = vllm.gauge(
      'num_requests_waiting_by_reason',
      'The same by what they wait for',
      ['reason'],
    );
    this.#finished = vllm.counter('request_success_total', 'Finished choices', {
      finished_reason: ['stop', 'length', 'abort', 'error'],
    });
    this.#rejections = vllm.counter('admission_rejections_total', 'Requests that got no place', {
      reason: rejections,
    });
    this.#aborts = own.counter('aborts_total', 'Requests that ended before their answer did', {
      cause: causes,
    });
    this.#faults = own.counter('output_faults_total', 'What was wrong with the markup of answers', {
      fault: [],
    });
    const { ttft, itl, e2e } = latencyBuckets;
    this.#latency = {
      ttft: vllm.histogram('time_to_first_token_seconds', 'Accepted to first token', ttft),
      itl: vllm.quickHistogram(
        [
          ['inter_token_latency_seconds', 'Between tokens of a choice'],
          ['time_per_output_token_seconds', 'The same under its old name'],
        ],
        itl,
      ),
      perToken: vllm.histogram('request_time_per_output_token_seconds', 'Mean of a request', itl),
      e2e: vllm.histogram('e2e_request_latency_seconds', 'Accepted to finished', e2e),
      queue: vllm.histogram('request_queue_time_seconds', 'Accepted to first computed', e2e),
      inference: vllm.histogram(
        'request_inference_time_seconds',
        'First computed to finished',
        e2e,
      ),
      prefill: vllm.histogram('request_prefill_time_seconds', 'First computed to first token', e2e),
      decode: vllm.histogram('request_decode_time_seconds', 'First token to last', e2e),
    };
    this.#choices = vllm.histogram('request_params_n', 'Choices of a request', choiceBuckets);
    this.#showWaiting();
  }

  /** Prompt tokens of requests that have none of their answer yet. */
  get queuedTokens(): number {
    return this.#queuedTokens;
  }

  /** What depends on the longest sequence; told when the engine is ready. */
  setLongest(maxModelLength: number): void {
    const buckets = tokenBuckets(maxModelLength);
    const histogram = (name: string, help: string) => this.#make.histogram(name, help, buckets);
    this.#sizes ??= {
      prompt: histogram('request_prompt_tokens', 'Prompt tokens of a request'),
      generation: histogram('request_generation_tokens', 'Generated tokens of a request'),
      most: histogram('request_max_num_generation_tokens', 'Most generated tokens of a choice'),
      maxTokens: histogram('request_params_max_tokens', 'max_tokens of a request'),
    };
  }

  /** Sequences that wait in the engine. */
  setQueued(sequences: number): void {
    this.#queued = sequences;
    this.#showWaiting();
  }

  /** Counts a request that got no place. */
  reject(reason: Rejection): void {
    this.#rejections.add(1, { reason });
  }

  /** Counts a request that ended before its answer did. */
  abort(cause: AbortCause): void {
    this.#aborts.add(1, { cause });
  }

  /** Begins to follow a request that was accepted. */
  watch(): RequestWatch {
    const clock = new RequestClock();
    const totals = { promptTokens: 0, generatedTokens: 0 };
    const most = new Map<number, number>();
    let wish: RequestWish | undefined;
    let cameTokens = 0;
    let outcome = 'abort';
    let code: string | undefined;
    let left: AbortCause = 'client';
    // Prompt tokens until the first of the answer.
    let waiting = 0;
    const leaveQueue = (): void => {
      this.#queuedTokens -= waiting;
      waiting = 0;
    };
    this.#prepare(1);
    return {
      prepared: (given) => {
        wish = given;
        waiting = given.promptTokens.reduce((sum, tokens) => sum + tokens, 0);
        this.#queuedTokens += waiting;
        this.#prepare(-1);
        this.#choices.observe(given.n);
        if (given.maxTokens !== undefined) this.#sizes?.maxTokens.observe(given.maxTokens);
      },
      step: (step, isFirstOfPrompt) => {
        const { index, tokens, finish } = step;
        if (step.prefillTokens !== undefined) clock.prefill(step.prefillTokens);
        this.rate.add(tokens.length);
        cameTokens += tokens.length;
        if (tokens.length > 0) {
          this.#observeToken(clock.token(index));
          this.promptRate.add(waiting);
          leaveQueue();
        }
        if (!finish) return;
        this.#countFaults(finish.faults);
        outcome = finish.reason === 'length' ? 'length' : 'stop';
        this.#finished.add(1, { finished_reason: outcome });
        if (isFirstOfPrompt) totals.promptTokens += finish.counts.promptTokens;
        totals.generatedTokens += finish.counts.completionTokens;
        most.set(index, finish.counts.completionTokens);
      },
      slow: () => {
        left = 'slow_client';
      },
      fail: (given) => {
        outcome = 'error';
        code = given;
      },
      timing: () => clock.timing(),
      pieces: () => clock.pieces,
      progress: () => progressOf(clock.timing(), wish, cameTokens),
      end: () => {
        if (!wish) this.#prepare(-1);
        leaveQueue();
        const timing = clock.timing();
        if (outcome === 'abort' || outcome === 'error') this.#broken(outcome, { code, left });
        else this.#whole(totals, Math.max(...most.values()));
        this.#alias?.setRequests(this.#answered, this.#unanswered);
        this.#observeTimes(timing);
        const { queueMs, ttftMs, tokensPerSecond, totalMs } = timing;
        const failure = code === undefined ? {} : { code };
        return { outcome, ...failure, ...totals, queueMs, ttftMs, tokensPerSecond, totalMs };
      },
    };
  }

  /** One without a parser has none. */
  #countFaults(faults: ChoiceFinish['faults']): void {
    for (const [fault, times] of Object.entries(faults ?? {})) {
      if (times > 0) this.#faults.add(times, { fault });
    }
  }

  #prepare(change: number): void {
    this.#preparing += change;
    this.#showWaiting();
  }

  #showWaiting(): void {
    this.#waiting.set(this.#queued + this.#preparing);
    this.#byReason.set(this.#queued, { reason: 'capacity' });
    this.#byReason.set(this.#preparing, { reason: 'deferred' });
  }

  #broken(
    outcome: 'abort' | 'error',
    { code, left }: { readonly code: string | undefined; readonly left: AbortCause },
  ): void {
    this.#unanswered += 1;
    this.#finished.add(1, { finished_reason: outcome });
    if (outcome === 'abort') this.abort(left);
    else if (code === 'queue_timeout') this.reject('timeout');
    else if (code !== undefined && code in causeOf) this.abort(causeOf[code] ?? 'engine');
  }

  #observeToken({ ttftMs, gapMs }: ReturnType<RequestClock['token']>): void {
    if (ttftMs !== undefined) this.#latency.ttft.observe(ttftMs / 1000);
    this.#alias?.observe('ttft', ttftMs);
    this.#alias?.observe('itl', gapMs);
    if (gapMs === undefined) return;
    this.#latency.itl.observe(gapMs / 1000);
  }

  #whole(totals: { promptTokens: number; generatedTokens: number }, most: number): void {
    this.#answered += 1;
    this.#sizes?.prompt.observe(totals.promptTokens);
    this.#sizes?.generation.observe(totals.generatedTokens);
    this.#sizes?.most.observe(most);
  }

  #observeTimes(timing: RequestTiming): void {
    const { e2e, queue, inference, prefill, decode, perToken } = this.#latency;
    const observe = (distribution: Distribution, ms: number | null): void => {
      if (ms !== null) distribution.observe(ms / 1000);
    };
    observe(e2e, timing.totalMs);
    observe(queue, timing.queueMs);
    this.#alias?.observe('e2e', timing.totalMs);
    this.#alias?.observe('queue', timing.queueMs);
    observe(inference, timing.queueMs === null ? null : timing.totalMs - timing.queueMs);
    observe(prefill, timing.prefillMs);
    observe(decode, timing.decodeMs);
    observe(perToken, timing.meanItlMs);
  }
}

function progressOf(
  { queueMs, ttftMs, totalMs }: RequestTiming,
  wish: RequestWish | undefined,
  generatedTokens: number,
): RequestProgress {
  const begun = queueMs === null ? 'waiting' : 'prefill';
  return {
    state: wish === undefined ? 'preparing' : ttftMs === null ? begun : 'decode',
    ageMs: totalMs,
    promptTokens: wish?.promptTokens.reduce((sum, tokens) => sum + tokens, 0),
    generatedTokens,
    n: wish?.n,
  };
}
