import type { FastifyReply } from 'fastify';
import type { ChoiceFinish, ChoiceStep } from '../../generation/choice.js';
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
 * Waits for the first step, so that a request that fails before it is answered with a status. After the
 * time of a keep-alive the stream begins without it: proxies cut connections that are silent.
 */
async function firstStep(
  steps: AsyncIterable<ChoiceStep>,
  mostMs: number,
): Promise<AsyncIterable<ChoiceStep>> {
  const iterator = steps[Symbol.asyncIterator]();
  const first = iterator.next();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    if (mostMs > 0) timer = setTimeout(resolve, mostMs);
  });
  await Promise.race([first, late]).finally(() => clearTimeout(timer));
  let pending: Promise<IteratorResult<ChoiceStep>> | undefined = first;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const next = pending ?? iterator.next();
        pending = undefined;
        return next;
      },
      return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
    }),
  };
}

/** Streams steps as server-sent events; an error after the headers is the last frame. */
export async function streamSteps(
  steps: AsyncIterable<ChoiceStep>,
  reply: FastifyReply,
  ticket: Ticket,
  shape: StreamShape,
): Promise<void> {
  const { logger, settings } = ticket.context;
  const started = await firstStep(steps, settings.keepAliveMs);
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
    for await (const step of started) {
      if (step.finish) finishes[step.index] = step.finish;
      held.add(step);
      if (events.isBlocked) events.hold(held.bytes);
      else send();
    }
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
