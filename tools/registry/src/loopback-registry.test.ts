import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LoopbackRegistry } from './loopback-registry.js';

let registry: LoopbackRegistry;
beforeEach(async () => {
  registry = await LoopbackRegistry.start();
});
afterEach(() => registry.close());

const tarball = Buffer.from('a tarball');
const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;

/** Sends what `npm publish` sends. */
function publish(version: string, promised = integrity): Promise<Response> {
  const name = '@scope/name';
  const body = {
    name,
    versions: { [version]: { name, version, dist: { integrity: promised } } },
    'dist-tags': { latest: version },
    _attachments: { [`${name}-${version}.tgz`]: { data: tarball.toString('base64') } },
  };
  return fetch(`${registry.url}@scope%2fname`, { method: 'PUT', body: JSON.stringify(body) });
}

it('listens on 127.0.0.1 and knows nothing', async () => {
  expect(registry.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect((await fetch(`${registry.url}@scope%2fname`)).status).toBe(404);
});

it('gives back what was published, by the address that it names', async () => {
  expect((await publish('1.0.0')).status).toBe(201);
  expect((await publish('1.1.0')).status).toBe(201);
  const packument = await (await fetch(`${registry.url}@scope%2fname`)).json();
  expect(packument).toMatchObject({ 'dist-tags': { latest: '1.1.0' } });
  const { dist } = (packument as { versions: Record<string, { dist: { tarball: string } }> })
    .versions['1.0.0'] ?? { dist: { tarball: '' } };
  const answer = await fetch(dist.tarball);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(tarball);
  expect(registry.published).toEqual(['@scope/name@1.0.0', '@scope/name@1.1.0']);
});

it('refuses a version that it has, and a tarball that is not the promised one', async () => {
  await publish('1.0.0');
  expect((await publish('1.0.0')).status).toBe(409);
  expect((await publish('2.0.0', 'sha512-other')).status).toBe(400);
  expect(registry.published).toEqual(['@scope/name@1.0.0']);
});

it('survives a body that is no publication', async () => {
  const answer = await fetch(`${registry.url}x`, { method: 'PUT', body: 'no JSON' });
  expect(answer.status).toBe(400);
  expect((await publish('1.0.0')).status).toBe(201);
});
