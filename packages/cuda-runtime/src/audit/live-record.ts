import type { RecordOwner } from '../native/record.js';

/** Kinds of what can be alive, as `stats().live` names those that it counts. */
export type LiveRecordKind =
  | 'runtime'
  | 'buffer'
  | 'host buffer'
  | 'stream'
  | 'event'
  | 'capture'
  | 'graph'
  | 'graph executable'
  | 'condition'
  | 'module'
  | 'kernel'
  | 'host function'
  | 'file';

/** A native object that is alive: what `runtime.audit()` lists. */
export interface LiveRecord {
  /** Unique in the process and never used again; `record` of a holder is one of these. */
  readonly id: number;
  readonly kind: LiveRecordKind;
  /** Label, name, path, or what else tells it from others; may be empty. */
  readonly label: string;
  /** Size of memory in bytes; of other kinds absent. */
  readonly bytes?: number;
  /**
   * All references to it. More than its holders count for while a call or an end is under way
   * on some thread; a runtime has one from everything that belongs to it, which is not listed.
   */
  readonly references: number;
  /** What keeps it. Empty: it ends right now. */
  readonly holders: readonly RecordHolder[];
}

/** What keeps a record; `by` says which of these it is. */
export type RecordHolder =
  | HandleHolder
  | ExportHolder
  | WorkHolder
  | GraphHolder
  | OtherRecordHolder
  | PassingHolder;

interface CountedHolder {
  /** References of this one. */
  readonly count: number;
}

/** JavaScript objects of one thread. */
export interface HandleHolder extends CountedHolder {
  readonly by: 'handle';
  /** Number of the thread's environment, unique in the process. */
  readonly environment: number;
  /** The thread that asks. */
  readonly isOwn: boolean;
  /** Made by `importHandle`. */
  readonly isImported: boolean;
  /** What this thread knows of its objects; of other threads' absent. */
  readonly object?: HandleObject;
}

/** The objects that share a handle. */
export interface HandleObject {
  /** Kind and label, as in errors. */
  readonly what: string;
  /** Who ends it. */
  readonly owner: RecordOwner;
  /** Those that are open: of memory the buffer and its views, else 1. */
  readonly open: number;
  /** Views of memory that are open; only with `CRT_WARN_LEAKS=1`. */
  readonly views: readonly string[];
  /** Stack of the place where it was made; only with `CRT_WARN_LEAKS=1`, of users' objects. */
  readonly stack: string | undefined;
}

/** A token of `exportHandle` that nobody imported yet. */
export interface ExportHolder extends CountedHolder {
  readonly by: 'export';
  /** As of handles: who exported it. */
  readonly environment: number;
  readonly isOwn: boolean;
}

/** Work in flight. */
export interface WorkHolder extends CountedHolder {
  readonly by: 'work';
  /**
   * Name of the kernel or host function, `copy`, `fill`, …; `graph` for a launch of one, `mark` for
   * a point that somebody waits for.
   */
  readonly operation: string;
  /** `name#id` of the stream. */
  readonly stream: string;
}

/** Nodes of a graph, also of the one that an executable runs. */
export interface GraphHolder extends CountedHolder {
  readonly by: 'graph';
  readonly record: number;
  /** The first of `count` nodes; absent where the graph itself holds. */
  readonly node?: number;
  /** What that node does. */
  readonly operation?: string;
}

/** Another record, or an open capture. */
export interface OtherRecordHolder extends CountedHolder {
  readonly by: 'graph executable' | 'kernel' | 'host function' | 'capture' | 'stream' | 'event';
  readonly record: number;
  /** `traced copy`: an executable's twin for a trace. */
  readonly operation?: string;
}

/**
 * Something that passes: an instantiation or a use of a file that is under way, a promise that is
 * still to be settled, the array of a host buffer, a trace.
 */
export interface PassingHolder extends CountedHolder {
  readonly by: 'instantiation' | 'file use' | 'promise' | 'array' | 'trace';
}
