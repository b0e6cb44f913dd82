import type { FastifyReply } from 'fastify';
import type { ChoiceFinish, ChoiceStep } from '../../generation/choice.js';
import type { ChoiceSteps } from '../../generation/step-stream.js';
import type { Ticket } from '../admission.js';
import { toApiError } from '../error-response.js';
import { HeldSteps } from './held-steps.js';
import { EventStream } from './sse.js';

/** How a route's steps look on the wire. */
export interface StreamShape {
  /** Frames before the first step. */
  readonly opening: () => readonly unknown[];
  readonly ofStep: (step: ChoiceStep) => readonly unknown[];
  /** Frames after the last step. */
  readonly closing: (finishes: readonly ChoiceFinish[]) => readonly unknown[];
}

/**
 * Streams steps as server-sent events; an error after the headers is the last frame. The first step
 * is waited for, so that a request that fails before it is answered with a status. After the time
 * of a keep-alive the stream begins without it: proxies cut connections that are silent.
 */
export async function streamSteps(
  steps: ChoiceSteps,
  reply: FastifyReply,
  ticket: Ticket,
  shape: StreamShape,
): Promise<void> {
  const { logger, settings } = ticket.context;
  await steps.begun(settings.keepAliveMs);
  const events = new EventStream(reply, {
    keepAliveMs: settings.keepAliveMs,
    stallMs: settings.clientStallMs,
    client: ticket.client,
    onSlow: (pendingBytes) => {
      ticket.slow();
      logger.warn({ request: ticket.id, pendingBytes }, 'slow_client: its stream is cut off');
    },
  });
  const finishes: ChoiceFinish[] = [];
  const held = new HeldSteps(settings.streamInterval);
  const send = (all = false): void => {
    for (const step of held.take(all)) for (const frame of shape.ofStep(step)) events.send(frame);
  };
  events.onRead(() => send());
  for (const frame of shape.opening()) events.send(frame);
  try {
    await steps.read((step) => {
      if (step.finish) finishes[step.index] = step.finish;
      held.add(step);
      if (events.isBlocked) events.hold(held.bytes);
      else send();
    });
    if (!events.isOpen) return;
    send(true);
    for (const frame of shape.closing(finishes)) events.send(frame);
    events.done();
  } catch (error) {
    const answer = toApiError(error);
    logger.error({ request: ticket.id, err: answer.cause ?? answer }, 'a stream failed');
    events.fail(answer);
  }
}
