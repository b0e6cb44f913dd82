import type { FastifyReply } from 'fastify';
import { ApiError, clientClosedRequest } from '../errors/index.js';
import { type ChoiceRequest, generate } from '../generation/generate.js';
import type { RequestLook, Stoppable } from '../generation/live-requests.js';
import type { ChoiceSteps } from '../generation/step-stream.js';
import { ContentRecorder } from '../log/request-content.js';
import type { RequestSummary, RequestWatch } from '../metrics/request-metrics.js';
import type { SamplingFields } from '../openai/sampling-fields.js';
import { timingFields } from '../openai/timings.js';
import type { Usage } from '../openai/usage.js';
import type { ServerContext } from '../server-context.js';
import type { RequestFacts } from '../traces/request-facts.js';
import { tenantOf } from './access/turn.js';
import { ClientWatch } from './client-watch.js';
import { toApiError, unavailable } from './error-response.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** It is counted, and logs its own end. */
    hasTicket: boolean;
  }
}

/** A request that may run: it is counted while it does, and has one log line at its end. */
export class Ticket implements Stoppable {
  readonly context: ServerContext;
  readonly id: string;
  readonly client: ClientWatch;
  /** Aborts when nothing more is to be generated: the client left, or the request was stopped. */
  readonly signal: AbortSignal;
  readonly #watch: RequestWatch;
  readonly #tenant: string;
  readonly #path: string;
  /** Whose turn it takes: the tenant, told apart further by the operator's header. */
  readonly turn: string;
  #isOver = false;
  readonly #stopped = new AbortController();
  #answer: ApiError | undefined;
  /** Only with `--log-content` or `--otel-capture-content`. */
  #content: ContentRecorder | undefined;
  readonly #startedMs = performance.now();
  /** Told with the request's end. */
  #asked: RequestFacts['asked'] = {};
  #preparedMs: number | undefined;
  readonly #headers: FastifyReply['request']['headers'];

  /** @throws ApiError if a request of that id is under way */
  constructor(context: ServerContext, id: string, reply: FastifyReply) {
    this.context = context;
    this.id = id;
    this.#tenant = reply.request.tenant;
    this.#headers = reply.request.headers;
    this.turn = tenantOf(reply.request, context.settings);
    this.#path = reply.request.routeOptions.url ?? 'unknown';
    context.active.add(this);
    reply.request.hasTicket = true;
    this.client = new ClientWatch(reply);
    // Not `AbortSignal.any`: Node keeps such a signal, and all that listens to it, for good.
    this.signal = this.#stopped.signal;
    whenAborted(this.client.signal, () => this.#stopped.abort());
    this.#watch = context.metrics.watchRequest();
    const { active, metrics } = context;
    whenAborted(this.client.signal, () => {
      const { url = 'unknown' } = reply.request.routeOptions;
      metrics.countHttp(url, reply.request.method, clientClosedRequest, reply.elapsedTime / 1000);
    });
    whenAborted(this.client.over, () => active.delete(this));
  }

  stop(error: ApiError): void {
    this.#answer ??= error;
    this.#stopped.abort();
  }

  /** What the operator is told of it. */
  look(): RequestLook {
    const { state, ...more } = this.#watch.progress();
    const isEnding = this.#isOver || this.signal.aborted;
    const head = { id: this.id, path: this.#path, tenant: this.turn };
    return { ...head, state: isEnding ? 'ending' : state, ...more };
  }

  /** Its client does not read, and is given up. */
  slow(): void {
    this.#watch.slow();
  }

  /** Runs the request to its end, however that comes. */
  async run<T>(answer: () => Promise<T>): Promise<T> {
    try {
      return await answer();
    } catch (thrown) {
      const error = this.#answer ?? thrown;
      // Whatever goes wrong after the client left is no error of the request.
      if (!this.client.signal.aborted) this.#watch.fail(toApiError(error).code);
      // Of several prompts one failed, so the others need not be prepared.
      this.#stopped.abort();
      throw error;
    } finally {
      this.#isOver = true;
      const { logger, settings, budget } = this.context;
      const summary = this.#watch.end();
      budget.charge(this.#tenant, summary.promptTokens + summary.generatedTokens);
      if (settings.logRequests) logger.info({ request: this.id, ...summary }, 'request');
      if (settings.logContent && logger.isLevelEnabled('info')) this.#logContent();
      this.#trace(summary);
    }
  }

  /** Times and speeds beside the usage of an answer, if the request or the server wants them. */
  measured(request: SamplingFields, usage: Usage): Record<string, unknown> {
    const { measureRequests } = this.context.settings;
    const timings = measureRequests || (request.timings_per_token ?? false);
    return timingFields({ timings, metrics: measureRequests }, this.#watch.timing(), usage);
  }

  /**
   * Hands the choices to the engine.
   *
   * @param choicesPerPrompt so many of them in a row have the same prompt
   * @returns their steps, which metrics watch on the way
   */
  async generate(
    choices: readonly ChoiceRequest[],
    choicesPerPrompt: number,
  ): Promise<ChoiceSteps> {
    const firsts = choices.filter((_, index) => index % choicesPerPrompt === 0);
    this.#preparedMs = performance.now() - this.#startedMs;
    const { maxTokens, temperature, topP } = choices[0]?.parameters ?? {};
    this.#asked = { n: choicesPerPrompt, maxTokens, temperature, topP };
    this.#watch.prepared({
      n: choicesPerPrompt,
      promptTokens: firsts.map(({ prompt }) => prompt.length),
      maxTokens: choices[0]?.parameters.maxTokens,
    });
    const { settings, traces } = this.context;
    const isKept = settings.logContent || traces?.withContent;
    const prompts = choices.map(({ prompt }) => prompt);
    const content = isKept ? new ContentRecorder(prompts, this.context.tokenizer) : undefined;
    this.#content = content;
    const steps = await generate(choices, this.context, {
      signal: this.signal,
      watch: (step) => {
        this.#watch.step(step, step.index % choicesPerPrompt === 0);
        content?.add(step);
      },
    });
    return {
      begun: (mostMs) => this.#watched(steps.begun(mostMs)),
      read: (take) => this.#watched(steps.read(take)),
    };
  }

  #logContent(): void {
    this.context.logger.info({ request: this.id, ...this.#content?.content() }, 'content');
  }

  #trace(summary: RequestSummary): void {
    const { traces, settings } = this.context;
    if (!traces) return;
    const recorder = traces.withContent ? this.#content : undefined;
    const { traceparent, tracestate } = this.#headers;
    traces.add({
      id: this.id,
      model: settings.servedModelNames[0],
      startedMs: performance.timeOrigin + this.#startedMs,
      preparedMs: this.#preparedMs,
      timing: this.#watch.timing(),
      pieces: this.#watch.pieces(),
      content: recorder && (() => recorder.content()),
      summary,
      asked: this.#asked,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      tracestate: typeof tracestate === 'string' ? tracestate : undefined,
    });
  }

  async #watched(reading: Promise<void>): Promise<void> {
    try {
      await reading;
      if (this.#answer) throw this.#answer;
    } catch (error) {
      this.#watch.fail(toApiError(error).code);
      throw error;
    }
  }
}

function whenAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}

/** Refuses requests that cannot run now, or that name another model. */
export function admit(
  context: ServerContext,
  request: Pick<SamplingFields, 'model' | 'request_id' | 'rid'>,
  reply: FastifyReply,
): Ticket {
  checkOpen(context, request.model);
  const { state } = context.engine;
  if (state === 'loading') {
    const { phase } = context.engine.progress;
    throw unavailable('model_loading', `the model is still loading (${phase})`);
  }
  if (state !== 'ready') throw unavailable('engine_dead', 'the engine has stopped');
  context.budget.check(reply.request.tenant);
  const id = request.request_id ?? request.rid ?? reply.request.id;
  reply.header('x-request-id', id);
  return new Ticket(context, id, reply);
}

/** Refuses requests while the server shuts down, and those that name another model. */
export function checkOpen(context: ServerContext, model: string | undefined): void {
  if (context.isDraining) throw unavailable('shutting_down', 'the server is shutting down');
  if (model !== undefined) checkModel(context, model);
}

/** A 404 unless the name is one of the served ones. */
export function checkModel({ settings }: ServerContext, model: string): void {
  if (settings.servedModelNames.includes(model)) return;
  throw new ApiError({
    status: 404,
    code: 'model_not_found',
    param: 'model',
    message: `the model \`${model}\` does not exist; this server serves ${settings.servedModelNames.join(', ')}`,
  });
}
