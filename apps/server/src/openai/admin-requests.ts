import { z } from 'zod';
import { fieldError, parseBody } from './parse-body.js';

/** Bodies of the operator's routes, for the description of the API. */
export const adminSchemas = {
  abort: z.looseObject({
    rid: z.string().nullish(),
    request_id: z.string().nullish(),
    abort_all: z.boolean().nullish(),
  }),
  profile: z.looseObject({
    num_steps: z.int().min(1).max(100_000).nullish(),
    output_dir: z.string().nullish(),
    cuda: z.literal(false, 'only false in this release').nullish(),
  }),
} as const;

/** What `POST /abort_request` ends: one request, or all (undefined), which has to be said. */
export function parseAbortRequest(body: unknown): { readonly id: string | undefined } {
  const { rid, request_id, abort_all } = parseBody(adminSchemas.abort, body ?? {});
  const id = request_id ?? rid ?? undefined;
  if (abort_all && id !== undefined) throw fieldError('abort_all', 'leave out `rid` with it');
  if (!abort_all && id === undefined) {
    const problem = 'is missing; send the id of a request, or `abort_all: true` to end them all';
    throw fieldError('rid', problem, 'missing_required_parameter');
  }
  return { id };
}

/** The body of `POST /start_profile`, which may be absent. */
export function parseProfileRequest(body: unknown): z.infer<typeof adminSchemas.profile> {
  return parseBody(adminSchemas.profile, body ?? {});
}
