import { ParserError } from './errors/index.js';
import { ReasoningParser, type ReasoningStart } from './reasoning-parser.js';
import { ToolCallParser, type ToolCallParserOptions } from './tool-call-parser.js';
import { MarkerLexer } from './tool-calls/marker-lexer.js';
import { DeltaQueue, type OutputDelta } from './tool-calls/output-delta.js';
import { noFaults, type ParserFaults } from './tool-calls/parser-faults.js';

/** How one choice of a response is parsed. */
export interface M3OutputParserOptions extends Omit<ToolCallParserOptions, 'faults'> {
  /** From `reasoningStartOf(prompt.text)`. Default `outside`. */
  readonly start?: ReasoningStart;
  /** false: tool markup is content, with its namespace markers removed. Default true. */
  readonly parseToolCalls?: boolean;
}

/** A tool call of the finished message. */
export interface ParsedToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text of an object; truncated where `isComplete` is false. */
  readonly arguments: string;
  readonly isComplete: boolean;
}

/** Why the engine stopped: a stop token or string, or a limit. */
export type EngineFinish = 'stop' | 'length';

/** The whole message. */
export interface ParsedOutput {
  /** null if the model did not think. */
  readonly reasoning: string | null;
  /** null if there is no text. */
  readonly content: string | null;
  readonly toolCalls: readonly ParsedToolCall[];
  /** OpenAI's finish reason. */
  readonly finish: EngineFinish | 'tool_calls';
  readonly faults: Readonly<ParserFaults>;
}

/**
 * The output of MiniMax-M3 as thoughts, content and tool calls, while it arrives. Feed it the
 * detokenized text with the markers kept (`ChatTokenizer.markerIds`). The whole message is the
 * deltas joined, so that streamed and whole responses agree by construction.
 */
export class M3OutputParser {
  readonly #faults = noFaults();
  readonly #reasoning: ReasoningParser;
  readonly #tools: ToolCallParser | MarkerRemover;
  readonly #message = new MessageFold();
  #finish: ParsedOutput['finish'] | null = null;

  constructor(options: M3OutputParserOptions = {}) {
    this.#reasoning = new ReasoningParser(options.start ?? 'outside');
    this.#tools =
      options.parseToolCalls === false
        ? new MarkerRemover()
        : new ToolCallParser({ ...options, faults: this.#faults });
  }

  /** True if nothing more will come out (`maxToolCalls` reached): stop generating. */
  get isDone(): boolean {
    return this.#tools.isDone;
  }

  /** The deltas that are certain after more text. */
  push(text: string): OutputDelta[] {
    this.#checkOpen('push');
    return this.#collect(this.#reasoning.push(text), false);
  }

  /** The last deltas. */
  finish(reason: EngineFinish = 'stop'): OutputDelta[] {
    this.#checkOpen('finish');
    const deltas = this.#collect(this.#reasoning.finish(), true);
    if (this.#reasoning.hasImpliedEnd) this.#faults.impliedReasoningEnd++;
    const isCall = reason === 'stop' && this.#message.toolCalls.at(-1)?.isComplete === true;
    this.#finish = isCall ? 'tool_calls' : reason;
    return deltas;
  }

  /**
   * The whole message.
   * @throws ParserError `CHAT_PARSER_FINISHED` before `finish`
   */
  result(): ParsedOutput {
    if (this.#finish === null) {
      throw new ParserError(
        'CHAT_PARSER_FINISHED',
        'M3OutputParser.result: the output is not finished; call finish() first',
      );
    }
    const { reasoning, content, toolCalls } = this.#message;
    return {
      reasoning: reasoning || null,
      content: content || null,
      toolCalls,
      finish: this.#finish,
      faults: { ...this.#faults },
    };
  }

  #collect(pieces: ReturnType<ReasoningParser['push']>, isEnd: boolean): OutputDelta[] {
    const queue = new DeltaQueue();
    for (const piece of pieces) {
      const isThought = piece.kind === 'reasoning';
      if (isThought) queue.add({ type: 'reasoning-delta', text: piece.text });
      else for (const delta of this.#tools.push(piece.text)) queue.add(delta);
    }
    if (isEnd) for (const delta of this.#tools.finish()) queue.add(delta);
    const deltas = queue.take();
    for (const delta of deltas) this.#message.add(delta);
    return deltas;
  }

  #checkOpen(operation: string): void {
    if (this.#finish === null) return;
    throw new ParserError(
      'CHAT_PARSER_FINISHED',
      `M3OutputParser.${operation}: finish() was called before; make a new parser per choice`,
    );
  }
}

/** Parses a complete output: the streaming parser, fed at once. */
export function parseOutput(
  text: string,
  options: M3OutputParserOptions & { readonly reason?: EngineFinish } = {},
): ParsedOutput {
  const parser = new M3OutputParser(options);
  parser.push(text);
  parser.finish(options.reason);
  return parser.result();
}

/** Joins deltas into a message. */
class MessageFold {
  reasoning = '';
  content = '';
  readonly toolCalls: { id: string; name: string; arguments: string; isComplete: boolean }[] = [];

  add(delta: OutputDelta): void {
    switch (delta.type) {
      case 'reasoning-delta':
        this.reasoning += delta.text;
        return;
      case 'content-delta':
        this.content += delta.text;
        return;
      case 'tool-call-start':
        this.toolCalls.push({ id: delta.id, name: delta.name, arguments: '', isComplete: false });
        return;
      default: {
        const call = this.toolCalls[delta.index];
        if (call === undefined) return;
        if (delta.type === 'tool-call-end') call.isComplete = delta.isComplete;
        else call.arguments += delta.text;
      }
    }
  }
}

/** Stands in for the tool parser where calls are not wanted: no marker reaches the client. */
class MarkerRemover {
  readonly isDone = false;
  readonly #lexer = new MarkerLexer();

  push(text: string): OutputDelta[] {
    return this.#show(this.#lexer.push(text));
  }

  finish(): OutputDelta[] {
    return this.#show(this.#lexer.finish());
  }

  #show(lexemes: ReturnType<MarkerLexer['push']>): OutputDelta[] {
    const queue = new DeltaQueue();
    for (const lexeme of lexemes) {
      if (lexeme.kind === 'tag') queue.add({ type: 'content-delta', text: lexeme.raw });
      else if (lexeme.kind !== 'stray') queue.add({ type: 'content-delta', text: lexeme.text });
    }
    return queue.take();
  }
}
