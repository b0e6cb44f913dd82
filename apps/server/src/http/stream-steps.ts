import type { FastifyReply } from 'fastify';
import type { ChoiceFinish, ChoiceStep } from '../generation/choice.js';
import type { Ticket } from './admission.js';
import { toApiError } from './error-response.js';
import { EventStream } from './sse.js';

/** How a route's steps look on the wire. */
export interface StreamShape {
  /** Frames before the first step. */
  readonly opening: () => readonly unknown[];
  readonly ofStep: (step: ChoiceStep) => readonly unknown[];
  /** Frames after the last step. */
  readonly closing: (finishes: readonly ChoiceFinish[]) => readonly unknown[];
}

/** Streams steps as server-sent events; an error after the headers is the last frame. */
export async function streamSteps(
  steps: AsyncIterable<ChoiceStep>,
  reply: FastifyReply,
  ticket: Ticket,
  shape: StreamShape,
): Promise<void> {
  const { logger, settings } = ticket.context;
  const events = new EventStream(reply, {
    keepAliveMs: settings.keepAliveMs,
    client: ticket.client,
    onSlow: (pendingBytes) => {
      logger.warn({ request: ticket.id, pendingBytes }, 'slow_client: its stream is cut off');
    },
  });
  const finishes: ChoiceFinish[] = [];
  for (const frame of shape.opening()) events.send(frame);
  try {
    for await (const step of steps) {
      if (step.finish) finishes[step.index] = step.finish;
      for (const frame of shape.ofStep(step)) events.send(frame);
    }
    if (!events.isOpen) return;
    for (const frame of shape.closing(finishes)) events.send(frame);
    events.done();
  } catch (error) {
    const answer = toApiError(error);
    logger.error({ request: ticket.id, err: answer.cause ?? answer }, 'a stream failed');
    events.fail(answer);
  }
}
