import { ApiError } from '../errors/index.js';

/** How far a request is. */
export interface RequestProgress {
  /** `preparing`: its prompt becomes tokens; `waiting` for a place; `prefill`; `decode`. */
  readonly state: 'preparing' | 'waiting' | 'prefill' | 'decode';
  /** Milliseconds since it was accepted. */
  readonly ageMs: number;
  /** Of all its prompts; undefined until they are tokens. */
  readonly promptTokens: number | undefined;
  /** Of all its choices. */
  readonly generatedTokens: number;
  /** Choices of each prompt. */
  readonly n: number | undefined;
}

/** What an operator is told of a request: nothing of its contents. */
export interface RequestLook extends Omit<RequestProgress, 'state'> {
  readonly id: string;
  /** The route that it came to. */
  readonly path: string;
  /** `ending`: nothing more is generated; its client still has to be told, or to read. */
  readonly state: RequestProgress['state'] | 'ending';
  /** Whose turn it takes; empty without keys. */
  readonly tenant: string;
}

/** A request that can be ended before its answer is complete. */
export interface Stoppable {
  readonly id: string;
  look(): RequestLook;
  /** Ends it with this answer; nothing happens if it is over. */
  stop(error: ApiError): void;
}

/** Requests whose answers are not complete, by the id that their clients know. */
export class LiveRequests {
  readonly #byId = new Map<string, Stoppable>();

  get size(): number {
    return this.#byId.size;
  }

  /** @throws ApiError `duplicate_request_id` if one of that id is under way */
  add(request: Stoppable): void {
    if (this.#byId.has(request.id)) {
      const message = `a request with the id ${request.id} is under way; ids must differ`;
      throw new ApiError({ status: 400, code: 'duplicate_request_id', message });
    }
    this.#byId.set(request.id, request);
  }

  delete({ id }: Stoppable): void {
    this.#byId.delete(id);
  }

  get(id: string): Stoppable | undefined {
    return this.#byId.get(id);
  }

  /** Those that are live now; ending some while going through them is fine. */
  list(): readonly Stoppable[] {
    return [...this.#byId.values()];
  }
}
