/** A function call of an assistant message, as in OpenAI's API. */
export interface ChatToolCall {
  readonly id?: string;
  readonly type?: 'function';
  readonly function: {
    readonly name: string;
    /** JSON text of an object (OpenAI), or the object itself. */
    readonly arguments: string | Readonly<Record<string, unknown>>;
  };
}

/** One text part of a message. Parts of other types are for the server to refuse. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A message of the dialogue. `root` replaces the default system paragraph of the template. */
export interface ChatMessage {
  readonly role: 'root' | 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly TextPart[] | null;
  /** Thoughts of an earlier assistant turn. */
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly ChatToolCall[] | null;
  readonly tool_call_id?: string;
  readonly name?: string;
}

/** A tool that the model may call, as in OpenAI's API. */
export interface ToolDefinition {
  readonly type?: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    /** JSON schema of the arguments object. */
    readonly parameters?: unknown;
  };
}
