import type { MessagePort } from 'node:worker_threads';
import type {
  EngineStats,
  FinishEvent,
  GenerationParameters,
  MockEngineOptions,
  PromptEvent,
  TokenEvent,
} from '@altstream/engine';
import type { ChoiceGrammar } from '../grammar/grammar.js';
import type { LostMatcher } from './grammar/grammar-messages.js';
import type { ExpertLoad } from './host/expert-watch.js';
import type { StepTimes } from './steps/step-log.js';
import type { ThreadHealth } from './thread-health.js';

/** How the engine worker loads its model and makes its engine; plain data. */
export interface EngineWorkerOptions {
  /** Checkpoint folder, or a built-in name. */
  readonly model: string;
  readonly loadFormat: 'safetensors' | 'dummy';
  readonly overrides: Readonly<Record<string, unknown>>;
  /** Of dummy weights. */
  readonly seed: number;
  /** One rank of several, which runs without the others. */
  readonly simulatedRank: { readonly rank: number; readonly size: number } | undefined;
  /** Share of the device's memory that may be in use. */
  readonly memoryFraction: number | undefined;
  readonly device: 'auto' | 'cpu' | `cuda:${number}`;
  readonly dtype: 'auto' | 'bfloat16' | 'float32';
  readonly overlap: 'capture' | 'always' | 'off';
  readonly sharedExpert: 'separate' | 'fused' | 'auto';
  readonly cpuThreads: number | undefined;
  readonly maxModelLength: number | undefined;
  readonly maxSequences: number;
  readonly maxBatchedTokens: number;
  readonly maxPartialPrefills: number;
  readonly maxWaiting: number;
  /** Undefined = twice what the pages hold. */
  readonly maxWaitingTokens: number | undefined;
  /** Biases of a request. */
  readonly maxLogitBias: number;
  readonly schedulingPolicy: 'fcfs' | 'priority';
  readonly itlTargetMs: number;
  readonly longPrefillTokenThreshold: number;
  readonly queueTimeoutMs: number;
  /** Of the pages, for the sequences of one tenant. */
  readonly maxTenantShare: number;
  /** File that gets every decision of the scheduler. */
  readonly traceFile: string | undefined;
  readonly pages: number | undefined;
  readonly prefixCaching: boolean;
  /** Whether a step is launched while the one before runs. */
  readonly lookAhead: boolean;
  /** Of which logits log-probabilities are: the model's, or those that a token was drawn from. */
  readonly logprobsMode: 'raw' | 'processed';
  readonly graphSizes: readonly number[] | undefined;
  /** No model runs, and nothing above that is about one matters. */
  readonly mock: MockSetup | undefined;
}

type MockFields =
  | 'vocabSize'
  | 'maxPositions'
  | 'pageTokens'
  | 'decodeMs'
  | 'prefillMsPerToken'
  | 'faults';

/** What a mock engine does; plain data. */
export interface MockSetup extends Pick<MockEngineOptions, MockFields> {
  /** Token ids of the answers, in turn; undefined = each request gets its prompt. */
  readonly scripts?: readonly (readonly number[])[];
  /** Ends a script. */
  readonly endId?: number;
}

/** What the engine worker is started with. */
export type EngineWorkerData = EngineWorkerOptions & {
  readonly heartbeat: SharedArrayBuffer;
  readonly recorder: SharedArrayBuffer;
};

/** Generation parameters that can cross threads. */
export type WireParameters = Omit<GenerationParameters, 'signal' | 'grammar'> & {
  /** Compiled by the grammar worker before. */
  readonly grammar?: ChoiceGrammar;
};

/** An error that can cross threads. */
export interface WireError {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  /** The error's own facts, such as `problem` or `reason`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A finish event whose error can cross threads. */
export type WireFinish = Omit<FinishEvent, 'error'> & { readonly error?: WireError };

/** An event of a request, on its way to the main thread. */
export type WireEvent = TokenEvent | PromptEvent | WireFinish | PrefillEvent;

/** A piece of the prompt is about to be computed; the first one says that the request has begun. */
export interface PrefillEvent {
  readonly type: 'prefill';
  readonly tokens: number;
}

/** What the device holds and how its experts are used; undefined where there is nothing to tell. */
export interface DeviceFacts {
  /** Of the last prompt tokens that were looked at. */
  readonly experts: ExpertLoad | undefined;
  /** Memory of the device that buffers have. */
  readonly bytes: number | undefined;
}

/** Counters of the engine and of its thread. */
export interface WorkerStats extends EngineStats {
  readonly device: DeviceFacts;
  /** Messages of events that the main thread has not dealt with. */
  readonly outputBacklogSteps: number;
  readonly thread: ThreadHealth;
}

/** Events of a step, with the numbers of their requests. */
export interface WireEvents {
  /** Of each plain token, in order: request, id, log-probability. */
  readonly requests: Float64Array;
  readonly tokens: Int32Array;
  readonly logprobs: Float64Array;
  /** All other events, each with the place in the order: before that plain token. */
  readonly others: readonly {
    readonly before: number;
    readonly id: number;
    readonly event: WireEvent;
  }[];
}

/** What the model and the engine are, once they are ready. */
export interface EngineInfo {
  readonly vocabSize: number;
  /** Longest sequence that is served. */
  readonly maxModelLength: number;
  /** Longest sequence that the model could do. */
  readonly modelMaxLength: number;
  readonly pageTokens: number;
  readonly pages: number;
  /** Sequences that run at once, and that wait meanwhile. */
  readonly maxSequences: number;
  readonly maxWaiting: number;
  /** Of those, the most of one tenant. */
  readonly maxTenantRequests: number;
  /** Everything that was chosen: backend, model, engine. */
  readonly report: Record<string, unknown>;
}

/** A profile to record. */
export interface ProfileOptions {
  /** Path of the file, which must not exist. */
  readonly file: string;
  /** Ends by itself after so many steps, or a few more. */
  readonly steps?: number;
}

/** A profile that was written. */
export interface ProfileResult {
  readonly file: string;
  /** Steps that were made meanwhile. */
  readonly steps: number;
  /** Operations in the file. */
  readonly spans: number;
}

/** Main thread → engine worker. */
export type ToEngine =
  | {
      readonly type: 'submit';
      readonly id: number;
      readonly prompt: Int32Array;
      readonly parameters: WireParameters;
    }
  | { readonly type: 'grammars'; readonly port: MessagePort; readonly lost?: LostMatcher }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'stats'; readonly id: number }
  | { readonly type: 'start-profile'; readonly id: number; readonly options: ProfileOptions }
  | { readonly type: 'stop-profile'; readonly id: number }
  | { readonly type: 'describe'; readonly id: number }
  | { readonly type: 'flush'; readonly id: number }
  /** The main thread is done with so many messages of events. */
  | { readonly type: 'acknowledge'; readonly messages: number }
  | { readonly type: 'close' };

/** Engine worker → main thread. Events of a step come in one message. */
export type FromEngine =
  | {
      readonly type: 'progress';
      readonly phase: string;
      readonly done: number;
      readonly total: number;
      readonly note?: string;
    }
  | { readonly type: 'ready'; readonly info: EngineInfo }
  | { readonly type: 'failed'; readonly error: WireError }
  /** A fault that the engine lives with. */
  | { readonly type: 'warning'; readonly error: WireError }
  | { readonly type: 'accepted'; readonly id: number }
  | { readonly type: 'refused'; readonly id: number; readonly error: WireError }
  | { readonly type: 'events'; readonly events: WireEvents; readonly steps: StepTimes }
  | {
      readonly type: 'stats';
      readonly id: number;
      readonly stats: WorkerStats;
      readonly steps: StepTimes;
    }
  | { readonly type: 'described'; readonly id: number; readonly report: Record<string, unknown> }
  | { readonly type: 'answered'; readonly id: number; readonly value: unknown }
  | { readonly type: 'unanswered'; readonly id: number; readonly error: WireError }
  | { readonly type: 'closed' };

/** Of a text in an error: what a thread was given may be part of what it says of it. */
const mostErrorCharacters = 4000;

/** Makes an error plain, and its texts no longer than an answer or a log line may have them. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof Error)) {
    return { name: 'Error', code: 'UNKNOWN', message: bounded(String(error)), facts: {} };
  }
  const { name, message } = error;
  const { code, ...facts } = Object.fromEntries(
    Object.entries(error)
      .filter(([, value]) => typeof value !== 'object' && typeof value !== 'function')
      .map(([key, value]) => [key, typeof value === 'string' ? bounded(value) : value]),
  );
  return { name, code: String(code ?? 'UNKNOWN'), message: bounded(message), facts };
}

function bounded(text: string): string {
  return text.length <= mostErrorCharacters ? text : `${text.slice(0, mostErrorCharacters)}…`;
}
