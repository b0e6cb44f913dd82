/** What may wait at most. */
export interface QueueBounds {
  readonly jobs: number;
  /** Of all texts; one job may wait alone, however long. */
  readonly characters: number;
}

/** What a queue looks at in a job. */
export interface QueuedJob {
  readonly tenant: string;
  readonly characters: number;
}

/** Jobs that wait: tenants in turn, and each tenant's in the order in which they came. */
export class TextQueue<Job extends QueuedJob> {
  readonly #bounds: QueueBounds;
  /** By tenant, the one whose turn is next first. */
  readonly #lines = new Map<string, Set<Job>>();
  #jobs = 0;
  #characters = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#jobs;
  }

  hasRoom(characters: number): boolean {
    const { jobs, characters: most } = this.#bounds;
    const fits = this.#jobs === 0 || this.#characters + characters <= most;
    return this.#jobs < jobs && fits;
  }

  add(job: Job): void {
    const line = this.#lines.get(job.tenant) ?? new Set();
    this.#lines.set(job.tenant, line.add(job));
    this.#jobs += 1;
    this.#characters += job.characters;
  }

  /** The first job of the tenant that has waited longest for its turn, of those that may run. */
  take(mayRun: (tenant: string) => boolean = () => true): Job | undefined {
    for (const [tenant, line] of this.#lines) {
      if (!mayRun(tenant)) continue;
      for (const job of line) {
        this.remove(job);
        // Behind the others, if more of it waits.
        if (this.#lines.delete(tenant)) this.#lines.set(tenant, line);
        return job;
      }
    }
    return undefined;
  }

  /** False if it does not wait here. */
  remove(job: Job): boolean {
    const line = this.#lines.get(job.tenant);
    if (!line?.delete(job)) return false;
    if (line.size === 0) this.#lines.delete(job.tenant);
    this.#jobs -= 1;
    this.#characters -= job.characters;
    return true;
  }
}
