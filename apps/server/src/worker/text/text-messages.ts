import type { RenderInput } from '@altstream/minimax-m3-chat';
import type { WireError } from '../messages.js';

/** What a text worker turns into token ids; a `render` ends with the text. */
export type TextTask =
  | {
      readonly kind: 'chat' | 'render';
      readonly input: RenderInput;
      /** In place of the server's. */
      readonly template?: string | undefined;
    }
  | { readonly kind: 'text'; readonly text: string };

/** A task with its bound. */
export type TextJob = TextTask & {
  /** UTF-8 bytes that a prompt may have; a longer one is not tokenized. */
  readonly mostBytes: number;
};

/** Token ids of a prompt, and the prompt itself for the parser's start state and for `echo`. */
export interface TextResult {
  readonly ids: readonly number[];
  readonly text: string;
}

/** A prompt that has too many bytes to fit. */
export interface TextTooLong {
  readonly tooLongBytes: number;
}

/** Main thread → text worker. */
export interface ToText {
  readonly id: number;
  readonly job: TextJob;
}

/** What a job took. */
export interface TextSeconds {
  readonly template?: number;
  readonly tokenize?: number;
}

/** What a worker does with a job; each has a limit of its own. */
export type TextStage = 'rendering' | 'tokenizing';

/** Text worker → main thread. */
export type FromText =
  /** That begins now, in the thread of that number. */
  | { readonly id: number; readonly stage: TextStage; readonly thread: number | undefined }
  | {
      readonly id: number;
      readonly result: TextResult | TextTooLong;
      readonly seconds: TextSeconds;
    }
  | { readonly id: number; readonly error: WireError };

/** How the text worker is made. */
export interface TextWorkerOptions {
  /** Folder of the checkpoint. */
  readonly model: string;
  /** Another template file, if given. */
  readonly template: string | undefined;
}
