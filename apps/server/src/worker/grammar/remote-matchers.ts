import type { MessagePort } from 'node:worker_threads';
import type { GrammarMatcher } from '@altstream/engine';
import type { ChoiceGrammar } from '../../grammar/grammar.js';
import type { FromMatchers, LostMatcher, MatcherFault, ToMatchers } from './grammar-messages.js';

/** Beyond what a worker takes to start again and to compile its grammars, on a busy machine. */
const answerWithinMs = 60_000;
/** A matcher that saw so many workers die of nobody knows what is suspected of it. */
const mostDeaths = 3;

interface Wait {
  readonly count: number;
  readonly resolve: (mask: Int32Array | undefined) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * The engine's side of the grammar worker. Matchers live there; when that worker dies, they are
 * opened again in the next one, with the tokens they had, but for the one that it died of.
 */
export class RemoteMatchers {
  readonly #matchers = new Map<number, RemoteMatcher>();
  #port: MessagePort | undefined;
  #nextId = 1;

  /** Takes the port of a new grammar worker, and who is to blame for the end of the one before. */
  attach(port: MessagePort, lost?: LostMatcher): void {
    const isFirst = this.#port === undefined;
    this.#port?.close();
    this.#port = port;
    port.on('message', (answer: FromMatchers) => {
      this.#matchers.get(answer.matcher)?.take(answer);
    });
    port.unref();
    if (lost) this.#matchers.get(lost.matcher)?.fail(lost);
    for (const matcher of this.#matchers.values()) {
      if (!lost && !isFirst) matcher.suspect();
      matcher.open();
    }
  }

  /** A matcher for one request. */
  open(grammar: ChoiceGrammar): GrammarMatcher {
    const id = this.#nextId++;
    const matcher = new RemoteMatcher(id, grammar, {
      post: (message) => this.#port?.postMessage(message),
      forget: () => this.#matchers.delete(id),
    });
    this.#matchers.set(id, matcher);
    if (this.#port) matcher.open();
    return matcher;
  }
}

interface MatcherLink {
  post(message: ToMatchers): void;
  forget(): void;
}

class RemoteMatcher implements GrammarMatcher {
  readonly #id: number;
  readonly #grammar: ChoiceGrammar;
  readonly #link: MatcherLink;
  readonly #tokens: number[] = [];
  #deaths = 0;
  #answer: FromMatchers | undefined;
  #wait: Wait | undefined;

  constructor(id: number, grammar: ChoiceGrammar, link: MatcherLink) {
    this.#id = id;
    this.#grammar = grammar;
    this.#link = link;
  }

  /** Its worker died, and it may have been of this. */
  suspect(): void {
    this.#deaths += 1;
    if (this.#deaths > mostDeaths) this.fail({ message: 'its worker keeps dying' });
  }

  /** There will be no mask any more. */
  fail({ message, code }: MatcherFault): void {
    const error = { message, ...(code !== undefined && { code }) };
    this.take({ matcher: this.#id, count: this.#tokens.length, error });
  }

  /** In the grammar worker that lives now. */
  open(): void {
    if (this.#answer?.error) return;
    const facts = { matcher: this.#id, grammar: this.#grammar, tokens: [...this.#tokens] };
    this.#link.post({ type: 'open', ...facts });
  }

  accept(id: number): void {
    this.#tokens.push(id);
    this.#link.post({ type: 'accept', matcher: this.#id, id });
  }

  mask(): Promise<Int32Array | undefined> {
    return new Promise((resolve, reject) => {
      const late = { message: `no mask within ${answerWithinMs / 1000} s` };
      const timer = setTimeout(() => this.fail(late), answerWithinMs);
      this.#wait = { count: this.#tokens.length, resolve, reject, timer };
      this.#settle();
    });
  }

  dispose(): void {
    this.#link.forget();
    clearTimeout(this.#wait?.timer);
    this.#wait?.reject(new Error('the request is over'));
    this.#link.post({ type: 'close', matcher: this.#id });
  }

  /** Takes an answer of the worker, wanted already or not. */
  take(answer: FromMatchers): void {
    this.#answer = answer;
    this.#settle();
  }

  #settle(): void {
    const [wait, answer] = [this.#wait, this.#answer];
    if (!wait || !answer || (answer.error === undefined && answer.count !== wait.count)) return;
    this.#wait = undefined;
    clearTimeout(wait.timer);
    if (answer.error === undefined) wait.resolve(answer.mask);
    else wait.reject(Object.assign(new Error(answer.error.message), answer.error));
  }
}
