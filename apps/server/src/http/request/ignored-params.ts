import type { FastifyReply } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { fieldLabel, fieldList, ignoredFields } from './ignored-fields.js';

const header = 'x-ignored-params';

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
  tellUnmet(reply, [...ignoredFields(body, read), ...unmet], context);
}

/** The same for paths of fields that are found out to have no effect; each is told once. */
export function tellUnmet(
  reply: FastifyReply,
  fields: readonly string[],
  { metrics, settings }: ServerContext,
): void {
  if (fields.length === 0) return;
  metrics.countIgnored(fields.map(fieldLabel));
  if (!settings.debugHeaders) return;
  const before = reply.getHeader(header);
  const told = typeof before === 'string' ? before.split(', ') : [];
  reply.header(header, fieldList([...told, ...fields]));
}
