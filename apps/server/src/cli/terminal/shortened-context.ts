import type { ServeFlags } from '../../config/serve-flags.js';
import type { EngineInfo } from '../../worker/messages.js';

/** What made the context shorter than the model allows, and how it gets longer; else undefined. */
export function shortenedContext(
  { maxModelLength, modelMaxLength }: EngineInfo,
  { maxModelLen, maxTenantKvShare }: Pick<ServeFlags, 'maxModelLen' | 'maxTenantKvShare'>,
): string | undefined {
  if (maxModelLength >= modelMaxLength) return undefined;
  const what = 'the context is shorter than the model allows';
  if (maxModelLen !== undefined) return `${what}, as --max-model-len says`;
  if (maxTenantKvShare === 1) return `${what}; --num-gpu-blocks-override adds pages`;
  const remedy = 'a larger share, or more pages (--num-gpu-blocks-override), make it longer';
  return `${what}: no request may hold more than --max-tenant-kv-share of the pages; ${remedy}`;
}
