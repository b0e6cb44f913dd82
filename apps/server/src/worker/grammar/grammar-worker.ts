// Compiles grammars and follows the outputs that have one, away from every other thread: a grammar
// is foreign input, and one that the library cannot read aborts its wasm. This worker then ends.

import type { MessagePort } from 'node:worker_threads';
import { ByteTable, byteToCharacter } from '@altstream/minimax-m3-chat';
import { AnswerMatcher } from '../../grammar/answer-matcher.js';
import { type Grammar, grammarKey } from '../../grammar/grammar.js';
import { type LibraryMatcher, loadGrammarLibrary } from '../../grammar/library.js';
import { GrammarShelf } from '../../grammar/shelf.js';
import { ownThread, ThreadClock } from '../threads/thread-time.js';
import { workerPort } from '../threads/worker-port.js';
import type {
  FromGrammar,
  FromMatchers,
  GrammarWorkerOptions,
  ToGrammar,
  ToMatchers,
} from './grammar-messages.js';
import { CostlyGrammarError, MaskBudget } from './mask-budget.js';
import { MaskMeter } from './mask-meter.js';
import { MatcherState } from './matcher-state.js';
import { openParts } from './open-parts.js';
import { mostWasmBytes, WasmLimit } from './wasm-limit.js';

const {
  port: main,
  options,
  post,
} = workerPort<GrammarWorkerOptions, FromGrammar>('grammar-worker');

/** The library says why it aborts on the standard error stream only. */
let said = '';
process.stderr.write = (chunk: string | Uint8Array): boolean => {
  said = `${said}${Buffer.from(chunk as Uint8Array).toString()}`.slice(-4000);
  return true;
};

const memory = new WasmLimit(options.mostWasmBytes ?? mostWasmBytes);
const library = loadGrammarLibrary();
const { eosTokenIds, vocabSize } = options;
const tokenizer = await library.TokenizerInfo.createTokenizerInfo(
  vocabularyOf(options),
  'byte_level',
  false,
  vocabSize,
  eosTokenIds,
);
const shelf = new GrammarShelf(
  library.Grammar,
  await library.GrammarCompiler.createGrammarCompiler(tokenizer, false),
);
interface Entry {
  readonly matcher: AnswerMatcher;
  /** Told when calls begin, so that the right grammar is blamed for what they cost. */
  callsKey: string | undefined;
  readonly budget: MaskBudget;
  count: number;
}

/** The other worker compiled the grammar within two seconds. */
const compileMs = 4000;
const state = new MatcherState(options.state);
const clock = new ThreadClock();
const meter = new MaskMeter(state, () => clock.now());
const matchers = new Map<number, Entry>();
/** The library is asynchronous, but one thing comes after the other. */
let tail: Promise<void> = Promise.resolve();
const inTurn = (work: () => Promise<void>): void => {
  tail = tail.then(work);
};

main.on('message', (message: ToGrammar) => {
  if (message.type === 'connect') connect(message.port);
  else inTurn(() => compile(message));
});
memory.settle();
post({ type: 'ready', thread: ownThread() });

async function compile(message: Extract<ToGrammar, { type: 'compile' }>): Promise<void> {
  const { id, grammar } = message;
  said = '';
  memory.begin();
  try {
    const isKnown = shelf.has(grammar);
    await shelf.take(grammar);
    post({ type: 'compiled', id, isKnown });
  } catch (error) {
    endIfAborted(error);
    post({ type: 'refused', id, reason: error instanceof Error ? error.message : String(error) });
  }
}

function connect(port: MessagePort): void {
  port.on('message', (message: ToMatchers) => {
    inTurn(() => follow(port, message));
  });
}

async function follow(port: MessagePort, message: ToMatchers): Promise<void> {
  const { matcher: id } = message;
  if (message.type === 'close') {
    close(id);
    return;
  }
  let answer: FromMatchers;
  memory.begin();
  try {
    if (message.type === 'open') await open(message);
    const entry = matchers.get(id);
    if (!entry) return;
    const mask = await next(id, entry, message);
    answer = { matcher: id, count: entry.count, mask };
  } catch (error) {
    endIfAborted(error);
    const { count = 0 } = matchers.get(id) ?? {};
    const { message: text, code } = error as Error & { code?: string };
    answer = { matcher: id, count, error: { message: text, ...(code && { code }) } };
    if (error instanceof CostlyGrammarError) post({ type: 'costly', matcher: id });
  }
  state.end();
  port.postMessage(answer);
}

async function open({ matcher: id, grammar, tokens }: Extract<ToMatchers, { type: 'open' }>) {
  const { grammar: own, calls: ofCalls } = grammar;
  const parts = await openParts(grammar, (part) => matcherOf(id, part));
  if (own && ofCalls) blame(id, own);
  meter.begin(id, tokens.length);
  const matcher = new AnswerMatcher(parts, grammar, options);
  const callsKey = own && ofCalls && grammarKey(ofCalls);
  const entry = { matcher, callsKey, budget: new MaskBudget(), count: tokens.length };
  matchers.set(id, entry);
  for (const token of tokens) accept(id, entry, token);
}

/** Whatever the matcher costs from here on is the doing of that grammar. */
function blame(id: number, grammar: Grammar): void {
  post({ type: 'opened', matcher: id, key: grammarKey(grammar) });
}

async function matcherOf(id: number, grammar: Grammar): Promise<LibraryMatcher> {
  blame(id, grammar);
  state.begin(id, compileMs);
  const compiled = await shelf.take(grammar);
  const endsAlone = eosTokenIds.length === 0;
  return library.GrammarMatcher.createGrammarMatcher(compiled, undefined, endsAlone);
}

function accept(id: number, entry: Entry, token: number): void {
  entry.matcher.accept(token);
  if (entry.callsKey === undefined || !entry.matcher.isInCalls) return;
  post({ type: 'opened', matcher: id, key: entry.callsKey });
  entry.callsKey = undefined;
}

/** Accepts the token, if there is one, and says what may follow. */
async function next(
  matcher: number,
  entry: Entry,
  message: Exclude<ToMatchers, { type: 'close' }>,
): Promise<Int32Array | undefined> {
  if (message.type === 'accept') {
    entry.count += 1;
    meter.begin(matcher);
  }
  return meter.measure(entry.budget, () => {
    if (message.type === 'accept') accept(matcher, entry, message.id);
    return entry.matcher.mask();
  });
}

function close(id: number): void {
  matchers.get(id)?.matcher.dispose();
  matchers.delete(id);
  post({ type: 'closed', matcher: id });
}

/**
 * After an abort, or where its stack was too small, nothing in the memory of the wasm is certain.
 */
function endIfAborted(error: unknown): void {
  if (!(error instanceof Error) || !['RuntimeError', 'RangeError'].includes(error.name)) return;
  const fault = /\[FATAL\] \S+:\d+: (?:Check failed: \(.*?\) is false: )?(.*)/.exec(said)?.[1];
  const reason = memory.isReached ? memory.reason : (fault ?? error.message).slice(0, 300);
  post({ type: 'aborted', reason, wasFull: memory.wasFull });
  process.exit();
}

/**
 * Control tokens are no text, so no grammar has them; only the namespace marker is part of calls.
 */
function vocabularyOf({ tokens, markers }: GrammarWorkerOptions): string[] {
  const table = new ByteTable(tokens);
  return Array.from({ length: Math.min(table.size, vocabSize) }, (_, id) => {
    if (table.isSpecial(id) && id !== markers.namespace) return '';
    return Array.from(table.bytesOf(id), byteToCharacter).join('');
  });
}
