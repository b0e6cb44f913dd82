import { ApiError } from '../errors/index.js';
import type { ChoiceStep } from '../generation/choice.js';
import type { ServerContext } from '../server-context.js';
import { unavailable } from './error-response.js';

/** A request that may run, and the means to count what it does. */
export interface Ticket {
  /** Passes steps on while metrics watch them; logs one line at the end. */
  observe(steps: AsyncIterable<ChoiceStep>): AsyncIterable<ChoiceStep>;
}

/** Refuses requests that cannot run now, or that name another model. */
export function admit(context: ServerContext, model: string, id: string): Ticket {
  if (context.isDraining) throw unavailable('shutting_down', 'the server is shutting down');
  checkModel(context, model);
  const { state } = context.engine;
  if (state === 'loading') {
    const { phase } = context.engine.progress;
    throw unavailable('model_loading', `the model is still loading (${phase})`);
  }
  if (state !== 'ready') throw unavailable('engine_dead', 'the engine has stopped');
  return { observe: (steps) => observe(steps, context, id) };
}

/** A 404 unless the name is one of the served ones. */
export function checkModel({ settings }: ServerContext, model: string): void {
  if (settings.servedModelNames.includes(model)) return;
  throw new ApiError({
    status: 404,
    code: 'model_not_found',
    param: 'model',
    message: `the model \`${model}\` does not exist; this server serves ${settings.servedModelNames.join(', ')}`,
  });
}

async function* observe(
  steps: AsyncIterable<ChoiceStep>,
  { metrics, logger, settings }: ServerContext,
  id: string,
): AsyncGenerator<ChoiceStep, void, undefined> {
  const watch = metrics.watchRequest();
  try {
    for await (const step of steps) {
      watch.step(step);
      yield step;
    }
  } catch (error) {
    watch.fail();
    throw error;
  } finally {
    const summary = watch.end();
    if (settings.logRequests) logger.info({ request: id, ...summary }, 'request');
  }
}
