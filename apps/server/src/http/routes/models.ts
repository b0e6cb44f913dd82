import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { checkModel } from '../admission.js';

/** `GET /v1/models` and `GET /v1/models/{id}`. */
export function models(app: FastifyInstance, context: ServerContext): void {
  const describe = (id: string): Record<string, unknown> => ({
    id,
    object: 'model',
    created: context.startedSeconds,
    owned_by: 'altstream',
    root: context.settings.servedModelNames[0],
    max_model_len: context.info?.maxModelLength ?? null,
  });
  app.get('/v1/models', async () => ({
    object: 'list',
    data: context.settings.servedModelNames.map(describe),
  }));
  app.get<{ Params: { id: string } }>('/v1/models/:id', async ({ params }) => {
    checkModel(context, params.id);
    return describe(params.id);
  });
}
