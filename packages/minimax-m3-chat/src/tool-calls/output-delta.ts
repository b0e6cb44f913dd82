/**
 * One step of the parsed output. Deltas of a call come in the order start, delta…, end; the texts
 * of its `tool-call-delta`s joined are the JSON text of its arguments.
 */
export type OutputDelta =
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'content-delta'; readonly text: string }
  | ToolCallStart
  | { readonly type: 'tool-call-delta'; readonly index: number; readonly text: string }
  | ToolCallEnd;

/** The name of a called function is known; its arguments follow. */
export interface ToolCallStart {
  readonly type: 'tool-call-start';
  /** Rises over all calls of the message, whatever block they stand in. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** No more arguments come for this call. */
export interface ToolCallEnd {
  readonly type: 'tool-call-end';
  readonly index: number;
  /** False if the output ended inside a value: the arguments are a truncated JSON text. */
  readonly isComplete: boolean;
}

/** Collects deltas; neighbours of one kind become one. */
export class DeltaQueue {
  #deltas: OutputDelta[] = [];

  /** Adds a delta; empty texts are left out. */
  add(delta: OutputDelta): void {
    if ('text' in delta && delta.text === '') return;
    const last = this.#deltas.at(-1);
    const joined = last === undefined ? null : join(last, delta);
    if (joined === null) this.#deltas.push(delta);
    else this.#deltas[this.#deltas.length - 1] = joined;
  }

  /** Gives out what was collected and starts anew. */
  take(): OutputDelta[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }
}

function join(last: OutputDelta, next: OutputDelta): OutputDelta | null {
  if (!('text' in last) || !('text' in next) || last.type !== next.type) return null;
  if ('index' in last && 'index' in next && last.index !== next.index) return null;
  return { ...last, text: last.text + next.text };
}
