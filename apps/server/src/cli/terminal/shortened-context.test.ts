import { expect, it } from 'vitest';
import type { EngineInfo } from '../../worker/messages.js';
import { shortenedContext } from './shortened-context.js';

const of = (maxModelLength: number, more: { maxModelLen?: number; maxTenantKvShare?: number }) =>
  shortenedContext({ maxModelLength, modelMaxLength: 4096 } as EngineInfo, {
    maxTenantKvShare: 1,
    ...more,
  });

it('a context that is shorter than the model allows is told with the flag that did it', () => {
  expect(of(4096, { maxTenantKvShare: 0.5 })).toBeUndefined();
  expect(of(320, {})).toMatch(/; --num-gpu-blocks-override adds pages$/);
  expect(of(320, { maxTenantKvShare: 0.5 })).toMatch(/--max-tenant-kv-share .*a larger share, or/);
  const given = of(320, { maxTenantKvShare: 0.5, maxModelLen: 320 });
  expect(given).toMatch(/allows, as --max-model-len says$/);
});
