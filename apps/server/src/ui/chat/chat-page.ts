import { callApi } from '../shell/api.js';
import { followApiKeyField } from '../shell/api-key.js';
import { byId, element } from '../shell/element.js';
import { untilReady } from '../shell/readiness.js';
import { Playground } from './playground.js';

/** Entry of the playground's page. */
async function start(): Promise<void> {
  const playground = new Playground();
  followApiKeyField(() => void fillModels(playground));
  await untilReady();
  await fillModels(playground);
}

async function fillModels(playground: Playground): Promise<void> {
  try {
    const list = (await (await callApi('v1/models')).json()) as {
      data: { id: string; max_model_len?: number }[];
    };
    const options = list.data.map(({ id }) => element('option', { value: id }, id));
    byId('model', HTMLSelectElement).replaceChildren(...options);
    const context = list.data[0]?.max_model_len;
    byId('context', HTMLElement).textContent = context ? `context ${context} tokens` : '';
    playground.say('');
  } catch (error) {
    playground.say((error as Error).message);
  }
}

void start();
