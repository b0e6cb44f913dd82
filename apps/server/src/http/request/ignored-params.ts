import type { FastifyReply } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { fieldLabel, fieldList, ignoredFields } from './ignored-fields.js';

/**
 * Counts the fields of a request that nobody reads; with `--debug-headers` the answer names them.
 *
 * @param body as it was parsed: a field that was taken under another name is not in it any more
 * @param settings `unmet`: paths of fields that are read, and have no effect all the same
 */
export function tellIgnored(
  reply: FastifyReply,
  body: object,
  {
    read,
    context,
    unmet = [],
  }: {
    readonly read: ReadonlySet<string>;
    readonly context: ServerContext;
    readonly unmet?: readonly string[];
  },
): void {
  const fields = [...ignoredFields(body, read), ...unmet];
  if (fields.length === 0) return;
  context.metrics.countIgnored(fields.map(fieldLabel));
  if (context.settings.debugHeaders) reply.header('x-ignored-params', fieldList(fields));
}
