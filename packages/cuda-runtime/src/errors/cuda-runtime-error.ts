import { cudaErrorName } from './cuda-error-names.js';
import { hasMarker, markWithClasses } from './marker.js';
import { cutMiddle } from './short-text.js';

/** What every error of this package knows. */
export interface ErrorFacts {
  /** Stable code, `CRT_…`. */
  readonly code: string;
  /** The public call that failed, e.g. `stream.launch`. */
  readonly api: string;
  /** What happened, in plain words, no full stop. */
  readonly detail: string;
  /** What to do about it, no full stop. */
  readonly hint?: string | undefined;
  /** The backend concerned, where one is. */
  readonly backend?: 'cpu' | 'cuda' | undefined;
  /** CUDA's number for the error; the CPU backend gives the same number. */
  readonly number?: number | undefined;
  /** `name#id` of the stream. */
  readonly stream?: string | undefined;
  /** Capture sequence concerned. */
  readonly captureId?: bigint | undefined;
  /** The error behind this one. */
  readonly cause?: unknown;
}

/** Facts for a class that has a code of its own. */
export type CodedFacts = Omit<ErrorFacts, 'code'> & { readonly code?: string };

/** Base class of every error that this package throws. `code` is stable; texts are not. */
export class CudaRuntimeError extends Error {
  /** Stable code, `CRT_…`. */
  readonly code: string;
  /** The public call that failed. */
  readonly api: string;
  /** The backend concerned, where one is. */
  readonly backend: 'cpu' | 'cuda' | undefined;
  /** CUDA's number and name, where a CUDA call would give one. */
  readonly cuda: { readonly number: number; readonly name: string } | undefined;
  /** `name#id` of the stream. */
  readonly stream: string | undefined;
  /** Capture sequence concerned. */
  readonly captureId: bigint | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** Further errors met while cleaning up after this one. */
  suppressed?: unknown[];

  constructor(facts: ErrorFacts) {
    super(messageOf(facts), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.code = facts.code;
    this.api = facts.api;
    this.backend = facts.backend;
    this.cuda = facts.number
      ? { number: facts.number, name: cudaErrorName(facts.number) }
      : undefined;
    this.stream = facts.stream || undefined;
    this.captureId = facts.captureId || undefined;
    this.hint = facts.hint || undefined;
    markWithClasses(this);
  }

  /** True for errors of this package, also those of another copy of it. */
  static isInstance(value: unknown): value is CudaRuntimeError {
    return hasMarker(value, 'CudaRuntimeError');
  }
}

// Beyond any that this package writes itself: names and labels of users are in texts of the addon.
const mostOfDetail = 4000;
const mostOfName = 120;

function messageOf(facts: ErrorFacts): string {
  const number = facts.number ? ` [${cudaErrorName(facts.number)} ${facts.number}]` : '';
  const places = [
    facts.stream ? `stream ${cutMiddle(facts.stream, mostOfName)}` : '',
    facts.captureId ? `capture ${facts.captureId}` : '',
  ].filter((place) => place !== '');
  const where = places.length > 0 ? ` (${places.join(', ')})` : '';
  const hint = facts.hint ? `. ${facts.hint}` : '';
  const detail = cutMiddle(facts.detail, mostOfDetail);
  return `${facts.api}: ${detail}${number}${where}${hint}.`;
}
