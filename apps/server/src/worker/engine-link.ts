import type { MessagePort } from 'node:worker_threads';
import type { EngineActivity } from './engine-activity.js';
import type { LostMatcher } from './grammar/grammar-messages.js';
import type {
  EngineInfo,
  ProfileOptions,
  ProfileResult,
  WireEvent,
  WireParameters,
  WorkerStats,
} from './messages.js';

/** Where the engine stands. */
export type EngineState = 'loading' | 'ready' | 'failed' | 'closed';

/** How far loading is. */
export interface LoadProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly note?: string;
}

/** A request that the engine accepted. */
export interface EngineRequest {
  abort(): void;
}

/** What routes know of the engine, wherever it runs. */
export interface EngineLink {
  readonly state: EngineState;
  readonly progress: LoadProgress;
  readonly activity: EngineActivity;
  /**
   * Seconds since the engine's thread last made progress or was idle; undefined before it is ready.
   */
  readonly heartbeatAge: number | undefined;
  /** Settles when the model is loaded and the graphs are captured, or when that failed. */
  ready(): Promise<EngineInfo>;
  /** Hands a request to the engine; rejects with its reason if it was not accepted. */
  submit(
    prompt: readonly number[],
    parameters: WireParameters,
    listener: (event: WireEvent) => void,
  ): Promise<EngineRequest>;
  /** Gives the engine its way to a new grammar worker, and says who ended the one before. */
  connectGrammars(port: MessagePort, lost?: LostMatcher): void;
  /** Counters of the engine, as of its current step border. */
  stats(): Promise<WorkerStats>;
  /** Everything that was chosen, with graph counters. */
  describe(): Promise<Record<string, unknown>>;
  /**
   * Forgets the pages of the prefix cache that no request holds; resolves to how many those were.
   */
  flushPrefixCache(): Promise<number>;
  /** Begins to record what the device does. */
  startProfile(options: ProfileOptions): Promise<void>;
  /** Ends the recording and writes it. */
  stopProfile(): Promise<ProfileResult>;
  /** Ends all requests and the engine. */
  close(): Promise<void>;
}
