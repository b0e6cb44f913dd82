import type { FastifyReply } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { fieldLabel, fieldList, ignoredFields } from './ignored-fields.js';

/**
 * Counts the fields of a request that nobody reads; with `--debug-headers` the answer names them.
 *
 * @param body as it was parsed: a field that was taken under another name is not in it any more
 */
export function tellIgnored(
  reply: FastifyReply,
  body: object,
  { read, context }: { readonly read: ReadonlySet<string>; readonly context: ServerContext },
): void {
  const fields = ignoredFields(body, read);
  if (fields.length === 0) return;
  context.metrics.countIgnored(fields.map(fieldLabel));
  if (context.settings.debugHeaders) reply.header('x-ignored-params', fieldList(fields));
}
