import type { FastifyReply } from 'fastify';
import type { TokenRoom } from '../generation/context-room.js';

/** Tells a client that asked for more tokens than fit how many it can get; set before the body. */
export function clampedHeader(reply: FastifyReply, rooms: readonly TokenRoom[]): void {
  const clamped = rooms.flatMap(({ isClamped, maxTokens }) => (isClamped ? [maxTokens ?? 0] : []));
  if (clamped.length > 0) reply.header('x-max-tokens-clamped', String(Math.min(...clamped)));
}
