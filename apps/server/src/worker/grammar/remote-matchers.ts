import type { MessagePort } from 'node:worker_threads';
import type { GrammarMatcher } from '@altstream/engine';
import type { ChoiceGrammar } from '../../grammar/grammar.js';
import type { FromMatchers, ToMatchers } from './grammar-messages.js';

const answerWithinMs = 15_000;
/** A matcher that saw so many workers die is suspected of it. */
const mostWorkers = 3;

interface Wait {
  readonly count: number;
  readonly resolve: (mask: Int32Array | undefined) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * The engine's side of the grammar worker. Matchers live there; when that worker dies, they are opened
 * again in the next one, with the tokens they had.
 */
export class RemoteMatchers {
  readonly #matchers = new Map<number, RemoteMatcher>();
  #port: MessagePort | undefined;
  #nextId = 1;

  /** Takes the port of a new grammar worker. */
  attach(port: MessagePort): void {
    this.#port?.close();
    this.#port = port;
    port.on('message', (answer: FromMatchers) => {
      this.#matchers.get(answer.matcher)?.take(answer);
    });
    port.unref();
    for (const matcher of this.#matchers.values()) matcher.open();
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
  #workers = 0;
  #answer: FromMatchers | undefined;
  #wait: Wait | undefined;

  constructor(id: number, grammar: ChoiceGrammar, link: MatcherLink) {
    this.#id = id;
    this.#grammar = grammar;
    this.#link = link;
  }

  /** In the grammar worker that lives now. */
  open(): void {
    this.#workers += 1;
    if (this.#workers > mostWorkers) {
      this.take({ matcher: this.#id, count: this.#tokens.length, error: 'its worker keeps dying' });
      return;
    }
    const facts = { matcher: this.#id, grammar: this.#grammar, tokens: [...this.#tokens] };
    this.#link.post({ type: 'open', ...facts });
  }

  accept(id: number): void {
    this.#tokens.push(id);
    this.#link.post({ type: 'accept', matcher: this.#id, id });
  }

  mask(): Promise<Int32Array | undefined> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        const message = `no mask within ${answerWithinMs / 1000} s`;
        this.take({ matcher: this.#id, count: this.#tokens.length, error: message });
      };
      const timer = setTimeout(late, answerWithinMs);
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
    else wait.reject(new Error(answer.error));
  }
}
