import type { MessagePort } from 'node:worker_threads';
import type { ByteTableData } from '@altstream/minimax-m3-chat';
import type { MarkerIds } from '../../grammar/answer-matcher.js';
import type { ChoiceGrammar, Grammar } from '../../grammar/grammar.js';

/** How the grammar worker is made; plain data. */
export interface GrammarWorkerOptions {
  /** Memory of a `MatcherState`: of the worker that matches outputs. */
  readonly state?: SharedArrayBuffer;
  /** Wasm memory of the worker; default `mostWasmBytes`. */
  readonly mostWasmBytes?: number;
  readonly tokens: ByteTableData;
  /** Of the model: logits a row. */
  readonly vocabSize: number;
  readonly eosTokenIds: readonly number[];
  readonly markers: MarkerIds;
}

/** Main thread → grammar worker. */
export type ToGrammar =
  | { readonly type: 'compile'; readonly id: number; readonly grammar: Grammar }
  | { readonly type: 'connect'; readonly port: MessagePort };

/** Grammar worker → main thread. */
export type FromGrammar =
  | {
      readonly type: 'ready';
      /** The system's number of the worker's thread, whose time is limited. */
      readonly thread: number | undefined;
    }
  | { readonly type: 'compiled'; readonly id: number; readonly isKnown: boolean }
  | { readonly type: 'refused'; readonly id: number; readonly reason: string }
  /** The wasm aborted: the worker ends with this message. */
  | {
      readonly type: 'aborted';
      readonly reason: string;
      /** Others had filled its memory: the same work may be done by the next worker. */
      readonly wasFull: boolean;
    }
  /** A matcher begins, or goes on with another grammar; `key` is that of the grammar. */
  | { readonly type: 'opened'; readonly matcher: number; readonly key: string }
  | { readonly type: 'closed'; readonly matcher: number }
  /** Its masks cost too much. */
  | { readonly type: 'costly'; readonly matcher: number };

/** Engine worker → grammar worker. */
export type ToMatchers =
  | {
      readonly type: 'open';
      readonly matcher: number;
      readonly grammar: ChoiceGrammar;
      /** What was accepted before, by a worker that is no more. */
      readonly tokens: readonly number[];
    }
  | { readonly type: 'accept'; readonly matcher: number; readonly id: number }
  | { readonly type: 'close'; readonly matcher: number };

/** Grammar worker → engine worker: one answer to each `open` and `accept`. */
export interface FromMatchers {
  readonly matcher: number;
  /** Tokens accepted so far. */
  readonly count: number;
  readonly mask?: Int32Array | undefined;
  readonly error?: MatcherFault;
}

/** Why a matcher is no more. */
export interface MatcherFault {
  readonly message: string;
  readonly code?: string;
}

/** The matcher that a worker had in hand when it was lost. */
export interface LostMatcher extends MatcherFault {
  readonly matcher: number;
}
