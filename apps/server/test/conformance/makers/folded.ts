import type OpenAI from 'openai';
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParams,
} from 'openai/resources/chat/completions';

/** One choice of a chat, put together from a stream as clients do, or taken from a whole answer. */
export interface FoldedChoice {
  readonly index: number;
  content: string;
  reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly logprobs: unknown[];
  readonly finishes: string[];
}

/** Both forms of an answer. */
export interface BothWays {
  readonly whole: readonly FoldedChoice[];
  readonly streamed: readonly FoldedChoice[];
  readonly chunks: readonly ChatCompletionChunk[];
  readonly usage: { readonly whole: unknown; readonly streamed: unknown };
  /** Content of the first choice of the whole answer, as it was sent. */
  readonly content: string | null | undefined;
}

type Delta = ChatCompletionChunk.Choice.Delta & { reasoning_content?: string };

/** Asks the same whole and streamed. */
export async function askBothWays(client: OpenAI, request: object): Promise<BothWays> {
  const body = request as ChatCompletionCreateParams;
  const whole = await client.chat.completions.create({ ...body, stream: false });
  const stream = await client.chat.completions.create({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return {
    whole: whole.choices.map((choice) => {
      const { content, ...more } = choice.message as unknown as Delta;
      return {
        index: choice.index,
        content: content ?? '',
        reasoning: more.reasoning_content ?? '',
        calls: (choice.message.tool_calls ?? []).map((one) =>
          one.type === 'function'
            ? { id: one.id, ...one.function }
            : { id: '', name: '', arguments: '' },
        ),
        logprobs: choice.logprobs?.content ?? [],
        finishes: [choice.finish_reason],
      };
    }),
    streamed: fold(chunks),
    chunks,
    usage: { whole: whole.usage, streamed: chunks.at(-1)?.usage },
    content: whole.choices[0]?.message.content,
  };
}

/** Puts choices together from chunks. */
export function fold(chunks: readonly ChatCompletionChunk[]): FoldedChoice[] {
  const choices: FoldedChoice[] = [];
  for (const chunk of chunks.flatMap((one) => one.choices)) {
    const { index } = chunk;
    choices[index] ??= { index, content: '', reasoning: '', calls: [], logprobs: [], finishes: [] };
    const choice = choices[index];
    const delta: Delta = chunk.delta;
    choice.content += delta.content ?? '';
    choice.reasoning += delta.reasoning_content ?? '';
    for (const piece of delta.tool_calls ?? []) {
      choice.calls[piece.index] ??= { id: piece.id ?? '', name: '', arguments: '' };
      const known = choice.calls[piece.index];
      if (!known) continue;
      known.name += piece.function?.name ?? '';
      known.arguments += piece.function?.arguments ?? '';
    }
    choice.logprobs.push(...(chunk.logprobs?.content ?? []));
    if (chunk.finish_reason) choice.finishes.push(chunk.finish_reason);
  }
  return choices;
}

/** The same but for the ids of calls, which are drawn anew for each answer. */
export function withoutIds(choices: readonly FoldedChoice[]): object[] {
  return choices.map((choice) => ({
    ...choice,
    calls: choice.calls.map(({ id: _, ...one }) => one),
  }));
}
