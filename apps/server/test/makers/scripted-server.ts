import type { AddressInfo } from 'node:net';
import {
  buildByteTokenizer,
  ChatTemplate,
  ChatTokenizer,
  defaultChatTemplate,
} from '@altstream/minimax-m3-chat';
import type { FastifyInstance } from 'fastify';
import OpenAI from 'openai';
import pino from 'pino';
import { LiveRequests } from '../../src/generation/live-requests.js';
import type { Grammar } from '../../src/grammar/grammar.js';
import { TokenBudget } from '../../src/http/access/token-budget.js';
import { makeApp } from '../../src/http/app.js';
import type { TlsFiles } from '../../src/http/tls/tls-files.js';
import { safeError } from '../../src/log/safe-error.js';
import { ServerMetrics } from '../../src/metrics/server-metrics.js';
import type { ServerContext } from '../../src/server-context.js';
import { EngineActivity } from '../../src/worker/engine-activity.js';
import type { EngineLink, EngineRequest } from '../../src/worker/engine-link.js';
import { EngineWorkerError } from '../../src/worker/engine-worker-error.js';
import type { GrammarLink, GrammarVerdict } from '../../src/worker/grammar/grammar-client.js';
import type {
  ProfileOptions,
  ProfileResult,
  WireError,
  WireEvent,
  WireParameters,
  WorkerStats,
} from '../../src/worker/messages.js';
import type { TextJob, TextResult } from '../../src/worker/text/text-messages.js';
import type { TextClient, TextLink } from '../../src/worker/text/text-pool.js';
import { idleStats } from '../metrics/idle-stats.js';

/** What the scripted engine answers to a request. */
export interface Script {
  /** Special tokens are written as their text. */
  readonly text: string;
  /** Token ids in place of the text, for bytes that are no text. */
  readonly ids?: readonly number[];
  /** How it ends; a `length` may come in the middle of anything. Default `stop`. */
  readonly reason?: 'stop' | 'length' | 'never';
  /** Milliseconds before the first token. Default 0. */
  readonly waitMs?: number;
  /** Comes before the first token. */
  readonly until?: Promise<void>;
  /** Ends with this error after the text instead. */
  readonly error?: WireError;
  /** Refuses the request with this error. */
  readonly refusal?: WireError;
}

/** What others wait for until a test opens it. */
export function makeGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** One request as the engine got it. */
export interface Received {
  readonly prompt: readonly number[];
  readonly parameters: WireParameters;
  isAborted: boolean;
}

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);

/**
 * An engine that says what a test wrote; every token goes through the real detokenizer and parsers.
 */
export class ScriptedEngine implements EngineLink {
  state: EngineLink['state'] = 'ready';
  readonly progress = { phase: 'ready', done: 1, total: 1 };
  readonly activity = new EngineActivity();
  heartbeatAge = 0;
  readonly received: Received[] = [];
  readonly profiles: ProfileOptions[] = [];
  /** One script for each request, in order; the last one stays. */
  scripts: Script[] = [{ text: 'Hello' }];

  ready(): ReturnType<EngineLink['ready']> {
    return Promise.reject(new Error('the scripted engine loads nothing'));
  }

  async submit(
    prompt: readonly number[],
    parameters: WireParameters,
    listener: (event: WireEvent) => void,
  ): Promise<EngineRequest> {
    const script = this.scripts.length > 1 ? this.scripts.shift() : this.scripts[0];
    if (script?.refusal) throw new EngineWorkerError(script.refusal);
    const request: Received = { prompt, parameters, isAborted: false };
    this.received.push(request);
    this.activity.begin();
    void this.#play(script ?? { text: '' }, request, listener).finally(() => this.activity.end());
    return {
      abort: () => {
        request.isAborted = true;
      },
    };
  }

  connectGrammars(): void {}

  async stats(): Promise<WorkerStats> {
    return idleStats;
  }

  async describe(): Promise<Record<string, unknown>> {
    return {};
  }

  async flushPrefixCache(): Promise<number> {
    return 7;
  }

  async startProfile(options: ProfileOptions): Promise<void> {
    this.profiles.push(options);
  }

  async stopProfile(): Promise<ProfileResult> {
    return { file: this.profiles.at(-1)?.file ?? '', steps: 0, spans: 0 };
  }

  async close(): Promise<void> {
    this.state = 'closed';
  }

  async #play(
    script: Script,
    request: Received,
    listener: (event: WireEvent) => void,
  ): Promise<void> {
    const { text, reason = 'stop', error } = script;
    const ids = script.ids ?? tokenizer.encode(text, { specials: true });
    const most = request.parameters.maxTokens ?? Number.POSITIVE_INFINITY;
    const facts = { promptTokens: request.prompt.length, cachedTokens: 0 };
    let generatedTokens = 0;
    if (script.waitMs) await new Promise((resolve) => setTimeout(resolve, script.waitMs));
    await script.until;
    do {
      for (const id of ids) {
        if (generatedTokens === most) break;
        if (generatedTokens % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
        if (request.isAborted) return;
        generatedTokens += 1;
        this.activity.progress();
        const top = alternatives(id, request.parameters.logprobs ?? 0);
        listener({ type: 'token', id, logprob: -id / 100, top });
      }
    } while (reason === 'never' && ids.length > 0 && generatedTokens < most);
    if (error) listener({ type: 'finish', reason: 'error', error, ...facts, generatedTokens });
    else if (generatedTokens === most || reason === 'length') {
      listener({ type: 'finish', reason: 'length', ...facts, generatedTokens });
    } else {
      const stop = request.parameters.stopTokenIds?.[0] ?? 1;
      listener({
        type: 'finish',
        reason: 'stop',
        stop,
        ...facts,
        generatedTokens: generatedTokens + 1,
      });
    }
  }
}

/** The token itself first, then those with the ids behind it. */
function alternatives(id: number, count: number): { id: number; logprob: number }[] {
  return Array.from({ length: count }, (_, at) => ({ id: id + at, logprob: -(id + at) / 100 }));
}

/** Takes every grammar, or refuses it as a test says. */
export class ScriptedGrammars implements GrammarLink {
  readonly compiled: Grammar[] = [];
  refusal: string | undefined;

  async compile(grammar: Grammar): Promise<GrammarVerdict> {
    this.compiled.push(grammar);
    return this.refusal === undefined ? undefined : { refusal: this.refusal };
  }

  async close(): Promise<void> {}
}

/** Renders at once, on this thread; a test may hold it up, or let it fail. */
export class DirectText implements TextLink {
  until: Promise<void> | undefined;
  failure: Error | undefined;
  jobs = 0;
  /** Whose turn each job took. */
  readonly tenants: string[] = [];
  #template = new ChatTemplate(defaultChatTemplate, tokenizer.addedTexts);

  /** Renders with another template from here on. */
  use(template: string): void {
    this.#template = new ChatTemplate(template, tokenizer.addedTexts);
  }

  async run(job: TextJob, { tenant }: TextClient): Promise<TextResult> {
    this.jobs += 1;
    this.tenants.push(tenant);
    await new Promise((resolve) => setImmediate(resolve));
    await this.until;
    if (this.failure) throw this.failure;
    if (job.kind === 'text') return { ids: tokenizer.encode(job.text), text: job.text };
    const own = job.template && new ChatTemplate(job.template, tokenizer.addedTexts);
    const rendered = (own || this.#template).render(job.input);
    const ids = job.kind === 'render' ? [] : tokenizer.encodePrompt(rendered);
    return { ids, text: rendered.text };
  }

  async close(): Promise<void> {}
}

/** The HTTP side on a free loopback port, with a scripted engine behind it. */
export interface ScriptedServer {
  readonly url: string;
  readonly client: OpenAI;
  readonly engine: ScriptedEngine;
  readonly text: DirectText;
  readonly grammars: ScriptedGrammars;
  readonly context: ServerContext;
  readonly app: FastifyInstance;
  readonly log: Record<string, unknown>[];
  close(): Promise<void>;
}

/** Starts it. */
export async function startScripted(
  settings: Partial<ServerContext['settings']> = {},
  tls?: TlsFiles,
): Promise<ScriptedServer> {
  const engine = new ScriptedEngine();
  const text = new DirectText();
  const grammars = new ScriptedGrammars();
  const log: Record<string, unknown>[] = [];
  const context: ServerContext = {
    settings: {
      servedModelNames: ['m3'],
      maxBodyBytes: 2 ** 20,
      keepAliveMs: 15_000,
      clientStallMs: 60_000,
      streamInterval: 1,
      limits: { n: 16, prompts: 128, logprobs: 20, stopStrings: 16, logitBiases: 1024 },
      apiKeys: [],
      adminApiKeys: [],
      allowedHosts: undefined,
      allowedOrigins: [],
      profileDirectory: undefined,
      requestsPerMinute: 0,
      tokensPerMinute: 0,
      maxConnections: 4096,
      overloadStatus: 503,
      isExposed: false,
      rootPath: '',
      logContent: false,
      servesDocs: true,
      metricsAccess: 'key',
      defaultMaxTokens: undefined,
      reasoningFields: ['reasoning_content', 'reasoning'],
      trustsTemplates: false,
      sglangCompat: false,
      strictTools: false,
      hasGrammars: true,
      allowMissingModel: false,
      forceUsage: false,
      debugHeaders: false,
      watchdogSeconds: 300,
      requestTimeoutMs: 0,
      tenantHeader: undefined,
      modelPath: undefined,
      tokenizerPath: '/nowhere',
      prefixCacheIsolation: 'none',
      defaultTemplateKwargs: {},
      logRequests: true,
      servesUi: true,
      measureRequests: false,
      strictMaxTokens: false,
      ...settings,
    },
    engine,
    text,
    grammars,
    tokenizer,
    markerIds: tokenizer.markerIds(),
    defaults: { eosTokenIds: [1] },
    metrics: new ServerMetrics('m3'),
    budget: new TokenBudget(settings.tokensPerMinute ?? 0),
    logger: pino(
      { level: 'info', serializers: { err: (error) => safeError(error) } },
      { write: (line) => log.push(JSON.parse(line)) },
    ),
    fingerprint: 'fp_test',
    startedSeconds: 0,
    given: [
      { name: 'port', text: '0', source: 'flag' },
      { name: 'api-key', text: 'not shown (1)', source: 'environment' },
    ],
    active: new LiveRequests(),
    info: {
      vocabSize: 600,
      maxModelLength: 100_000,
      modelMaxLength: 100_000,
      pageTokens: 16,
      pages: 10_000,
      maxSequences: 8,
      maxWaiting: 32,
      maxTenantRequests: 40,
      report: {},
    },
    isDraining: false,
  };
  const app = makeApp(context, tls);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    client: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 }),
    engine,
    text,
    grammars,
    context,
    app,
    log,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
