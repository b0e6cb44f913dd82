import { ApiError } from '../errors/index.js';

/** A request that can be ended before its answer is complete. */
export interface Stoppable {
  readonly id: string;
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
