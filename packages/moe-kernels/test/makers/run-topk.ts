import { routingRecipes } from '../../src/routing/routing-method.js';
import type { TopkConfig } from '../../src/routing/topk-config.js';
import { type TopkInput, type TopkOptions, topk } from '../../src/topk.js';
import { fakeStream, fakeTensor } from './fake-stream.js';

/** The router of MiniMax-M3. */
export const m3: TopkConfig = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 };

/** Runs top-k of `tokens` × `experts` on a fake stream. */
export async function runTopk(
  config: Partial<TopkConfig>,
  {
    tokens = 2,
    experts = 128,
    input = {},
    options = {},
  }: {
    readonly tokens?: number;
    readonly experts?: number;
    readonly input?: Partial<TopkInput>;
    readonly options?: Partial<TopkOptions>;
  } = {},
) {
  const { stream, launches, tensor } = await fakeStream();
  const method = config.method ?? m3.method;
  const bias =
    routingRecipes[method]?.bias === 'required' ? { routingBias: tensor([experts], 'f32') } : {};
  const logits = tensor([tokens, experts], 'f32');
  const fixed = Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      value && fakeTensor(stream.device, value.shape, value.dtype),
    ]),
  );
  const result = topk({ logits, ...bias, ...fixed }, { ...m3, ...config }, { stream, ...options });
  return { result, launches };
}
