import { createParser } from 'eventsource-parser';
import { ApiProblem, callApi } from '../shell/api.js';
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
  const request = { ...body, stream: true, stream_options: { include_usage: true } };
  const frames: string[] = [];
  let [status, id]: [number, string | null] = [0, null];
  const end = (problem?: string): AssistantTurn => ({
    ...chunks.end(performance.now(), problem),
    exchange: { request, status, id, frames },
  });
  try {
    const answer = await callApi('v1/chat/completions', { body: request, signal });
    status = answer.status;
    id = answer.headers.get('x-request-id');
    await readFrames(answer, (data) => {
      frames.push(data);
      if (data === '[DONE]') return;
      chunks.add(JSON.parse(data) as Chunk, performance.now());
      onChange(chunks.answer);
    });
    return end(chunks.answer.finish === null ? 'the answer was cut off' : undefined);
  } catch (error) {
    if (error instanceof ApiProblem) {
      status = error.status;
      frames.push(error.body);
    }
    return end(signal.aborted ? 'stopped' : (error as Error).message);
  }
}

async function readFrames(answer: Response, onData: (data: string) => void): Promise<void> {
  if (!answer.body) return;
  const parser = createParser({ onEvent: ({ data }) => onData(data) });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
}
