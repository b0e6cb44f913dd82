import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { serverVersion } from '../../version.js';

/** `/metrics` for Prometheus, `/version`, and `/server_info`: everything that was chosen. */
export function observe(app: FastifyInstance, context: ServerContext): void {
  const { metricsAccess: access } = context.settings;
  app.get('/metrics', { config: { access } }, async (_, reply) => {
    const { engine, metrics } = context;
    if (engine.state === 'ready') metrics.setEngine(await engine.stats(), engine.heartbeatAge);
    return reply
      .header('content-type', context.metrics.contentType)
      .send(await context.metrics.exposition());
  });
  app.get('/version', async () => ({ version: serverVersion }));
  app.get('/model_info', async () => ({
    model_path: context.settings.modelPath ?? null,
    tokenizer_path: context.settings.tokenizerPath,
    served_model_names: context.settings.servedModelNames,
    is_generation: true,
    has_image_understanding: false,
    has_audio_understanding: false,
    preferred_sampling_params: samplingDefaults(context),
    max_model_len: context.info?.maxModelLength ?? null,
    vocab_size: context.info?.vocabSize ?? null,
  }));
  app.get('/server_info', async () => ({
    version: serverVersion,
    model: context.settings.servedModelNames[0],
    state: context.engine.state,
    ...(context.info ? { ...context.info.report, engine: await context.engine.describe() } : {}),
  }));
}

/** What applies to fields that a request leaves out, under their names in requests. */
function samplingDefaults({ defaults }: ServerContext): Record<string, number | undefined> {
  const { temperature, topP: top_p, topK: top_k, minP: min_p } = defaults;
  return { temperature, top_p, top_k, min_p };
}
