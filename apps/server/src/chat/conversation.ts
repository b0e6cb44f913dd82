import { askStreamed } from '../client/ask-chat.js';
import type { AnswerDelta, AnsweredCall, ChatAnswer } from '../client/chat-answer.js';
import type { ServerAddress } from '../client/server-address.js';

/** What stays the same from question to question. */
export interface ConversationOptions {
  readonly server: ServerAddress;
  readonly model: string;
  readonly system?: string | undefined;
  /** OpenAI's tools that the model may call. */
  readonly tools?: readonly unknown[] | undefined;
  /** Further fields of each request, such as `temperature`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** How an answer is followed and stopped. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onDelta?: (delta: AnswerDelta) => void;
}

type Message = Readonly<Record<string, unknown>>;

/** A dialogue with its history. A question without an answer leaves no trace in it. */
export class Conversation {
  /** `enabled`, `disabled`, `adaptive`; undefined = what the server does by itself. */
  thinking: string | undefined;
  readonly #options: ConversationOptions;
  #messages: Message[];
  /** Calls of the last answer that still wait for their results. */
  #openCalls: readonly AnsweredCall[] = [];

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#messages = firstMessages(options);
  }

  /** The call whose result comes next; without one, the next text is a question. */
  get openCall(): AnsweredCall | undefined {
    return this.#openCalls[0];
  }

  /** Questions, answers and results so far. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Forgets everything but the system message. */
  clear(): void {
    this.#messages = firstMessages(this.#options);
    this.#openCalls = [];
  }

  /**
   * Takes the result of the open call. @returns true when it was the last one: ask for the answer
   */
  giveResult(text: string): boolean {
    const [call, ...rest] = this.#openCalls;
    if (!call) return false;
    this.#messages.push({ role: 'tool', tool_call_id: call.id, content: text });
    this.#openCalls = rest;
    return rest.length === 0;
  }

  /**
   * Asks; without a question, for the answer to the results given. A stopped answer counts as far
   * as it came.
   *
   * @throws ClientError; the history is then as it was before
   */
  async ask(
    question: string | undefined,
    { signal, onDelta }: AskOptions = {},
  ): Promise<ChatAnswer> {
    const asked: Message[] = question === undefined ? [] : [{ role: 'user', content: question }];
    const { server } = this.#options;
    let partial = '';
    const follow = (delta: AnswerDelta): void => {
      if (delta.type === 'content') partial += delta.text;
      onDelta?.(delta);
    };
    const body = this.#body([...this.#messages, ...asked]);
    try {
      const answer = await askStreamed(server, body, { signal, onDelta: follow });
      this.#messages.push(...asked, turnOf(answer));
      this.#openCalls = answer.toolCalls;
      return answer;
    } catch (error) {
      if (signal?.aborted && partial !== '') {
        this.#messages.push(...asked, { role: 'assistant', content: partial });
      }
      throw error;
    }
  }

  #body(messages: readonly Message[]): Record<string, unknown> {
    const { model, tools, fields } = this.#options;
    return {
      model,
      messages,
      ...(tools ? { tools } : {}),
      ...fields,
      ...(this.thinking === undefined
        ? {}
        : { chat_template_kwargs: { thinking_mode: this.thinking } }),
    };
  }
}

function firstMessages({ system }: ConversationOptions): Message[] {
  return system === undefined ? [] : [{ role: 'system', content: system }];
}

/** The answer as the next request repeats it; the template decides which thoughts it shows. */
function turnOf({ content, reasoning, toolCalls }: ChatAnswer): Message {
  return {
    role: 'assistant',
    content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
          })),
        }),
  };
}
