import { createInterface } from 'node:readline';
import { printable } from '../client/printable.js';
import { ClientError } from '../errors/index.js';
import { AnswerDisplay, type ChatOutput, dim, type ThoughtStyle } from './answer-display.js';
import { type ChatCommand, commandHelp, parseCommand } from './chat-command.js';
import type { Conversation } from './conversation.js';
import { Interrupts } from './interrupts.js';

/** What a session talks through. */
export interface ChatSessionOptions {
  readonly conversation: Conversation;
  readonly output: ChatOutput;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly thoughts: ThoughtStyle;
}

/**
 * Reads questions and results of calls line by line until the end of the input, and shows the
 * answers. On a terminal a failed request is a note and the talk goes on; in a pipe it ends the
 * session.
 */
export class ChatSession {
  readonly #conversation: Conversation;
  readonly #output: ChatOutput;
  readonly #input: ChatSessionOptions['input'];
  readonly #interrupts: Interrupts;
  #thoughts: ThoughtStyle;
  #hasLeft = false;
  #close = (): void => {};

  constructor({ conversation, output, input, thoughts }: ChatSessionOptions) {
    this.#conversation = conversation;
    this.#output = output;
    this.#input = input;
    this.#thoughts = thoughts;
    this.#interrupts = new Interrupts(() => {
      this.#hasLeft = true;
      this.#close();
    });
  }

  /** True after a second Ctrl-C. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Takes a Ctrl-C; on a terminal the session notices them itself. */
  interrupt(): void {
    if (this.#interrupts.interrupt() !== 'warned') return;
    this.#note('\nCtrl-C again, Ctrl-D or /exit leaves');
    this.#prompt();
  }

  /** Asks one thing. @throws ClientError, also for an answer that was stopped */
  async ask(question: string | undefined): Promise<void> {
    const display = new AnswerDisplay(this.#output, this.#thoughts);
    try {
      const onDelta = display.show.bind(display);
      const answer = await this.#interrupts.during((signal) =>
        this.#conversation.ask(question, { signal, onDelta }),
      );
      display.finish(answer);
    } catch (error) {
      display.end();
      throw error;
    }
  }

  /**
   * Talks until the end of the input, `/exit`, or a second Ctrl-C. @throws ClientError in a pipe
   */
  async talk(): Promise<void> {
    const isTerminal = this.#input.isTTY === true;
    const lines = createInterface({
      input: this.#input,
      ...(isTerminal ? { output: this.#output.notes as NodeJS.WritableStream } : {}),
      terminal: isTerminal,
    });
    this.#close = () => lines.close();
    this.#prompt = isTerminal ? () => this.#showPrompt(lines) : () => {};
    lines.on('SIGINT', () => this.interrupt());
    this.#prompt();
    for await (const line of lines) {
      if (!(await this.#takeLine(line.trim(), isTerminal)) || this.#hasLeft) break;
      this.#prompt();
    }
    lines.close();
    if (isTerminal) this.#output.notes.write('\n');
  }

  #prompt = (): void => {};

  #showPrompt(lines: { setPrompt(text: string): void; prompt(): void }): void {
    const call = this.#conversation.openCall;
    lines.setPrompt(call ? `result of ${printable(call.name)}> ` : '> ');
    lines.prompt();
  }

  /** @returns false when the session is over */
  async #takeLine(text: string, isTerminal: boolean): Promise<boolean> {
    if (text === '') return true;
    const command = parseCommand(text);
    if (command) return this.#run(command);
    const isResult = this.#conversation.openCall !== undefined;
    if (isResult && !this.#conversation.giveResult(text)) return true;
    try {
      await this.ask(isResult ? undefined : text.replace(/^\/\//, '/'));
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.code === 'CLIENT_ABORTED') this.#note('[stopped]');
      else if (isTerminal) this.#note(`altstream: ${error.message}`);
      else throw error;
    }
    return true;
  }

  #run(command: ChatCommand): boolean {
    switch (command.type) {
      case 'exit':
        return false;
      case 'clear':
        this.#conversation.clear();
        this.#note('(the conversation begins anew)');
        return true;
      case 'thinking':
        this.#conversation.thinking = command.mode;
        return true;
      case 'thoughts':
        this.#thoughts = command.style;
        return true;
      case 'help':
        this.#note(commandHelp);
        return true;
      case 'unknown':
        this.#note(`${command.problem}\n${commandHelp}`);
        return true;
    }
  }

  #note(text: string): void {
    this.#output.notes.write(`${dim(printable(text), this.#output.notes)}\n`);
  }
}
