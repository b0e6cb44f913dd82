import type { ToolDefinition } from './template/messages.js';
import { CallArguments } from './tool-calls/call-arguments.js';
import { createCallId } from './tool-calls/call-id.js';
import { type Lexeme, MarkerLexer } from './tool-calls/marker-lexer.js';
import { DeltaQueue, type OutputDelta } from './tool-calls/output-delta.js';
import { noFaults, type ParserFaults } from './tool-calls/parser-faults.js';
import type { MarkedTag } from './tool-calls/plain-tag.js';
import { TagNames } from './tool-calls/tag-names.js';

/** How tool calls are read. */
export interface ToolCallParserOptions {
  /** The tools of the request: their schemas give the arguments their types. */
  readonly tools?: readonly ToolDefinition[];
  /**
   * The names of those tools' parameters, called when the first tag comes; for parsers that share
   * them. By default a parser makes its own.
   */
  readonly tagNames?: () => TagNames;
  /** Treat calls of undeclared functions as text. Default false: they are passed through. */
  readonly strictTools?: boolean;
  /** Stop after this many calls (`parallel_tool_calls: false` is 1). Default no limit. */
  readonly maxToolCalls?: number;
  /** Makes call ids. Default `call_` and 24 random characters. */
  readonly createId?: () => string;
  /** Where faults are counted. */
  readonly faults?: ParserFaults;
}

interface OpenCall {
  readonly index: number;
  readonly arguments: CallArguments;
}

/**
 * Reads tool calls out of the text behind the thoughts, while it arrives. Everything outside of
 * blocks is content. Nothing that the model writes makes it throw.
 */
export class ToolCallParser {
  readonly #options: ToolCallParserOptions;
  readonly #schemas: ReadonlyMap<string, unknown>;
  readonly #faults: ParserFaults;
  readonly #lexer: MarkerLexer;
  readonly #deltas = new DeltaQueue();
  #call: OpenCall | null = null;
  #calls = 0;
  #isInBlock = false;
  /** Opening of a block without a call yet; it becomes content if no call comes. */
  #unproven: string | null = null;
  /** White space at the end of the content so far; dropped if a block follows. */
  #space = '';
  #isAfterBlock = false;

  constructor(options: ToolCallParserOptions = {}) {
    this.#options = options;
    this.#faults = options.faults ?? noFaults();
    this.#schemas = new Map(
      (options.tools ?? []).map((tool) => [tool.function.name, tool.function.parameters]),
    );
    this.#lexer = new MarkerLexer(
      options.tagNames ?? (() => new TagNames([...this.#schemas.values()])),
    );
  }

  /** True once `maxToolCalls` calls are complete: the rest of the output is ignored. */
  get isDone(): boolean {
    const { maxToolCalls = Number.POSITIVE_INFINITY } = this.#options;
    return this.#call === null && this.#calls >= maxToolCalls;
  }

  /** The deltas that are certain after more text. */
  push(text: string): OutputDelta[] {
    for (const lexeme of this.#lexer.push(text)) this.#take(lexeme);
    return this.#deltas.take();
  }

  /** The rest. A call that is cut off inside a value keeps its truncated arguments. */
  finish(): OutputDelta[] {
    for (const lexeme of this.#lexer.finish()) this.#take(lexeme);
    if (this.#call !== null) this.#endCall(this.#call.arguments.cutOff());
    if (this.#unproven !== null) this.#showUnproven();
    if (!this.#isAfterBlock) this.#deltas.add({ type: 'content-delta', text: this.#space });
    this.#space = '';
    return this.#deltas.take();
  }

  #take(lexeme: Lexeme): void {
    if (this.isDone) return;
    switch (lexeme.kind) {
      case 'text':
        if (this.#call === null) this.#content(lexeme.text);
        else this.#call.arguments.text(lexeme.text);
        return;
      case 'stray':
        this.#faults.strayMarker++;
        return;
      case 'partial':
        this.#partial(lexeme.text);
        return;
      case 'tag':
        if (this.#call === null) this.#tagOutside(lexeme);
        else this.#tagInside(this.#call, lexeme);
    }
  }

  #tagOutside(tag: MarkedTag): void {
    if (tag.functionName !== undefined && this.#isCallable(tag.functionName)) {
      this.#beginCall(tag.functionName);
    } else if (tag.name === 'tool_call' && !tag.isClosing) {
      this.#beginBlock();
    } else if (tag.name === 'tool_call' && this.#isInBlock) {
      this.#endBlock();
    } else {
      this.#faults.unexpectedTag++;
      this.#content(tag.raw);
    }
  }

  #tagInside(call: OpenCall, tag: MarkedTag): void {
    const isBoundary =
      tag.functionName !== undefined ||
      (tag.isClosing && (tag.name === 'invoke' || tag.name === 'tool_call'));
    const isOwn = isBoundary && tag.functionName === undefined && call.arguments.hasOpen(tag.name);
    if (isBoundary && !isOwn) {
      this.#endCall(call.arguments.close());
      if (tag.name === 'invoke' && tag.isClosing) return;
      this.#faults.impliedClose++;
      if (!this.isDone) this.#tagOutside(tag);
    } else if (tag.isClosing) {
      call.arguments.closeTag(tag);
    } else {
      call.arguments.openTag(tag);
    }
  }

  #isCallable(name: string): boolean {
    if (this.#schemas.has(name)) return true;
    this.#faults.unknownFunction++;
    return this.#options.strictTools !== true;
  }

  #beginBlock(): void {
    if (this.#isInBlock) {
      this.#faults.impliedClose++;
      return;
    }
    this.#isInBlock = true;
    this.#unproven = '<tool_call>';
  }

  #endBlock(): void {
    this.#isInBlock = false;
    this.#unproven = null;
    this.#space = '';
    this.#isAfterBlock = true;
  }

  #beginCall(name: string): void {
    this.#unproven = null;
    this.#space = '';
    this.#isAfterBlock = true;
    const index = this.#calls++;
    const id = (this.#options.createId ?? createCallId)();
    this.#deltas.add({ type: 'tool-call-start', index, id, name });
    const schema = this.#schemas.get(name);
    this.#call = { index, arguments: new CallArguments(schema, index, this.#deltas, this.#faults) };
  }

  #endCall(isComplete: boolean): void {
    if (this.#call === null) return;
    this.#deltas.add({ type: 'tool-call-end', index: this.#call.index, isComplete });
    this.#call = null;
  }

  /** Text outside calls. */
  #content(text: string): void {
    if (this.#unproven !== null) {
      if (text.trim() === '') {
        this.#unproven += text;
        return;
      }
      this.#showUnproven();
    }
    const body = text.trimEnd();
    if (body === '') {
      this.#space += text;
      return;
    }
    this.#deltas.add({ type: 'content-delta', text: this.#space + body });
    this.#space = text.slice(body.length);
    this.#isAfterBlock = false;
  }

  /** A block without a call was no block: its tag is text. */
  #showUnproven(): void {
    const text = this.#unproven ?? '';
    this.#unproven = null;
    this.#faults.unexpectedTag++;
    this.#content(text);
  }

  /** A tag that the end of the output cut off: inside a call, or of a block with calls, no text. */
  #partial(text: string): void {
    const isCloser = this.#isInBlock && this.#unproven === null;
    const isMarkup =
      this.#call !== null || (isCloser && '</tool_call>'.startsWith(text.trimStart()));
    if (!isMarkup) this.#content(text);
  }
}
