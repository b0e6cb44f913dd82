import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { QuickHistogram } from './quick-histogram.js';

/** A gauge or counter whose first labels are settled. */
export interface Value {
  set(value: number, more?: Readonly<Record<string, string>>): void;
  add(value: number, more?: Readonly<Record<string, string>>): void;
}

/** A gauge of one series, whose labels are what it tells. */
export interface Fact {
  /** Replaces what it told before. */
  tell(labels: Readonly<Record<string, string>>): void;
}

/** A counter that is told its total, which only grows. */
export interface Total {
  to(value: number): void;
}

/** A histogram whose first labels are settled. */
export interface Distribution {
  observe(value: number, more?: Readonly<Record<string, string>>): void;
}

/** Makes metrics of one prefix with the same first labels, in one registry. */
export class MetricMaker {
  readonly #registers: Registry[];
  readonly #prefix: string;
  readonly #labels: Readonly<Record<string, string>>;

  constructor(registry: Registry, prefix: string, labels: Readonly<Record<string, string>> = {}) {
    this.#registers = [registry];
    this.#prefix = prefix;
    this.#labels = labels;
  }

  gauge(name: string, help: string, more: readonly string[] = []): Value {
    const gauge = new Gauge(this.#facts(name, help, more));
    return {
      set: (value, labels = {}) => gauge.set({ ...this.#labels, ...labels }, value),
      add: (value, labels = {}) => gauge.inc({ ...this.#labels, ...labels }, value),
    };
  }

  /** A gauge that is always 1. */
  fact(name: string, help: string, more: readonly string[]): Fact {
    const gauge = new Gauge(this.#facts(name, help, more));
    return {
      tell: (labels) => {
        gauge.reset();
        gauge.set({ ...this.#labels, ...labels }, 1);
      },
    };
  }

  /**
   * @param known label values that are there from the start, at 0, so that a rate sees the first
   * event
   */
  counter(
    name: string,
    help: string,
    known: Readonly<Record<string, readonly string[]>> = {},
  ): Pick<Value, 'add'> {
    const counter = new Counter(this.#facts(name, help, Object.keys(known)));
    if (Object.keys(known).length === 0) counter.inc({ ...this.#labels }, 0);
    for (const [label, values] of Object.entries(known)) {
      for (const value of values) counter.inc({ ...this.#labels, [label]: value }, 0);
    }
    return { add: (value, labels = {}) => counter.inc({ ...this.#labels, ...labels }, value) };
  }

  /** A counter of events that someone else counts. */
  total(name: string, help: string): Total {
    const counter = this.counter(name, help);
    let was = 0;
    return {
      to: (value) => {
        counter.add(Math.max(0, value - was));
        was = Math.max(was, value);
      },
    };
  }

  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    more: readonly string[] = [],
  ): Distribution {
    const facts = this.#facts(name, help, more);
    const histogram = new Histogram({ ...facts, buckets: [...buckets] });
    if (more.length === 0) histogram.zero({ ...this.#labels });
    return {
      observe: (value, labels = {}) => histogram.observe({ ...this.#labels, ...labels }, value),
    };
  }

  /** One for what happens with every token; it has no more labels. Further names show the same. */
  quickHistogram(
    names: readonly (readonly [name: string, help: string])[],
    buckets: readonly number[],
  ): Distribution {
    const [[name, help] = ['', '']] = names;
    const histogram = new QuickHistogram({ name, help, buckets, labels: this.#labels });
    for (const registry of this.#registers) {
      for (const [shown, text] of names) {
        histogram.showIn(registry, { name: this.#prefix + shown, help: text });
      }
    }
    return histogram;
  }

  #facts(name: string, help: string, more: readonly string[]) {
    return {
      name: this.#prefix + name,
      help,
      labelNames: [...Object.keys(this.#labels), ...more],
      registers: this.#registers,
    };
  }
}
