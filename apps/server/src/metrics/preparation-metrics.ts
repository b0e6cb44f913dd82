import { latencyBuckets } from './buckets.js';
import type { Distribution, MetricMaker } from './metric-maker.js';

/** What is done with a request before the engine gets it. */
export class PreparationMetrics {
  readonly #template: Distribution;
  readonly #tokenize: Distribution;
  readonly #compile: Distribution;
  readonly #hits;
  readonly #misses;

  constructor(own: MetricMaker) {
    const { ttft } = latencyBuckets;
    this.#template = own.histogram('template_seconds', 'To render the template of a chat', ttft);
    this.#tokenize = own.histogram('tokenize_seconds', 'To turn a prompt into tokens', ttft);
    this.#compile = own.histogram(
      'grammar_compile_seconds',
      'To compile a grammar, or to find out that it is none',
      ttft,
    );
    this.#hits = own.counter('grammar_cache_hits_total', 'Grammars that were known already');
    this.#misses = own.counter('grammar_cache_misses_total', 'Grammars that were compiled');
  }

  /** A prompt was prepared; undefined = there was nothing to do of that kind. */
  prompt(seconds: { readonly template?: number; readonly tokenize?: number }): void {
    if (seconds.template !== undefined) this.#template.observe(seconds.template);
    if (seconds.tokenize !== undefined) this.#tokenize.observe(seconds.tokenize);
  }

  /** A grammar was wanted; undefined = it was known. */
  grammar(compileSeconds: number | undefined): void {
    if (compileSeconds === undefined) this.#hits.add(1);
    else {
      this.#misses.add(1);
      this.#compile.observe(compileSeconds);
    }
  }
}
