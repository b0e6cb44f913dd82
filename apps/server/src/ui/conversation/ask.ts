import { createParser } from 'eventsource-parser';
import { callApi } from '../shell/api.js';
import { AnswerChunks, type Chunk } from './answer-chunks.js';
import type { AssistantTurn } from './turn.js';

/** How a question is asked. */
export interface AskOptions {
  /** Stops the answer; what has come is kept. */
  readonly signal: AbortSignal;
  readonly onChange: (answer: AssistantTurn) => void;
}

/** Asks and shows the answer while it comes; never throws: what went wrong is in the answer. */
export async function ask(
  body: Readonly<Record<string, unknown>>,
  { signal, onChange }: AskOptions,
): Promise<AssistantTurn> {
  const chunks = new AnswerChunks(performance.now());
  try {
    const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
    const answer = await callApi('v1/chat/completions', { body: streamed, signal });
    await readFrames(answer, (data) => {
      chunks.add(JSON.parse(data) as Chunk, performance.now());
      onChange(chunks.answer);
    });
    const isCut = chunks.answer.finish === null;
    return chunks.end(performance.now(), isCut ? 'the answer was cut off' : undefined);
  } catch (error) {
    const problem = signal.aborted ? 'stopped' : (error as Error).message;
    return chunks.end(performance.now(), problem);
  }
}

async function readFrames(answer: Response, onData: (data: string) => void): Promise<void> {
  if (!answer.body) return;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') onData(data);
    },
  });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
}
