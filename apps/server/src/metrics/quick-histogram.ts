import type { Registry } from 'prom-client';

/** What a quick histogram is called, and how it is divided. */
export interface QuickHistogramFacts {
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * A histogram for what happens with every token: prom-client's looks its labels up for each value,
 * which takes longer than writing the token. Its text is the same. Several names may show the same
 * counts.
 */
export class QuickHistogram {
  readonly #facts: QuickHistogramFacts;
  /** Values up to each bound and above the one before; the last are above all. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(facts: QuickHistogramFacts) {
    this.#facts = facts;
    this.#counts = new Float64Array(facts.buckets.length + 1);
  }

  observe(value: number): void {
    const { buckets } = this.#facts;
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** Shows it in a registry, under its own name or another. */
  showIn(registry: Registry, shown: { readonly name?: string; readonly help?: string } = {}): this {
    const { name, help } = { ...this.#facts, ...shown };
    const metric = { name, help, type: 'histogram', aggregator: 'sum' };
    const get = async () => ({ ...metric, values: this.#values(name) });
    // prom-client takes its own classes only, by type; it asks nothing more of them than this.
    const registered: unknown = { ...metric, get, reset: () => undefined };
    registry.registerMetric(registered as Parameters<Registry['registerMetric']>[0]);
    return this;
  }

  #values(name: string) {
    const { buckets, labels } = this.#facts;
    let count = 0;
    const values = Array.from(this.#counts, (own, bucket) => {
      count += own;
      const le = buckets[bucket] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...values,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
