import type { FastifyReply } from 'fastify';
import type { ChoiceFinish, ChoiceStep } from '../generation/choice.js';
import type { Generation } from '../generation/generate.js';
import type { ServerContext } from '../server-context.js';
import { toApiError } from './error-response.js';
import { EventStream } from './sse.js';

/** How a route's steps look on the wire. */
export interface StreamShape {
  readonly context: ServerContext;
  /** Frames before the first step. */
  readonly opening: () => readonly unknown[];
  readonly ofStep: (step: ChoiceStep) => readonly unknown[];
  /** Frames after the last step. */
  readonly closing: (finishes: readonly ChoiceFinish[]) => readonly unknown[];
}

/** Streams a generation as server-sent events; a client that leaves ends it. */
export async function streamSteps(
  generation: Generation,
  reply: FastifyReply,
  shape: StreamShape,
): Promise<void> {
  const events = new EventStream(reply, {
    keepAliveMs: shape.context.settings.keepAliveMs,
    onGone: () => generation.abort(),
  });
  const finishes: ChoiceFinish[] = [];
  for (const frame of shape.opening()) events.send(frame);
  try {
    for await (const step of generation.steps) {
      if (step.finish) finishes[step.index] = step.finish;
      for (const frame of shape.ofStep(step)) events.send(frame);
    }
    for (const frame of shape.closing(finishes)) events.send(frame);
    events.done();
  } catch (error) {
    const answer = toApiError(error);
    shape.context.logger.error({ err: answer.cause ?? answer }, 'a stream failed');
    events.fail(answer);
  }
}
