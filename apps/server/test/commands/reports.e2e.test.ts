import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { startScripted } from '../makers/scripted-server.js';
import { altstreamMain } from '../makers/serving.js';

describe('altstream openapi', () => {
  it('prints what a server has at /openapi.json', async () => {
    const rootPath = '/api/m3';
    const server = await startScripted({ rootPath });
    try {
      const { code, stdout } = await altstream('openapi', '--root-path', rootPath);
      expect(code).toBe(0);
      const served = await (await fetch(`${server.url}/openapi.json`)).json();
      expect(JSON.parse(stdout)).toEqual(served);
    } finally {
      await server.close();
    }
    const plain = JSON.parse((await altstream('openapi')).stdout) as object;
    expect(plain).not.toHaveProperty('servers');
    expect((await altstream('openapi', '--root-path', 'x')).code).toBe(2);
  });
});

describe('altstream env', () => {
  const canary = 'c4n4ry-0f-a-key';
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [altstreamMain, 'env', ...args], {
      encoding: 'utf8',
      env: {
        ...process.env,
        ALTSTREAM_API_KEY: canary,
        HF_TOKEN: canary,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${canary}`,
        ALTSTREAM_MAX_NUM_SEQS: '12',
      },
    });

  it('says what is installed and what works, for programs', () => {
    const text = run('--json');
    const facts = JSON.parse(text) as {
      packages: Record<string, string | null>;
      backends: { backend: string }[];
    };
    expect(text).not.toContain(canary);
    expect(facts).toMatchObject({
      server: expect.any(String),
      packages: { '@altstream/engine': expect.any(String), fastify: expect.any(String) },
      node: { node: process.versions.node },
      system: { kernel: expect.stringContaining(process.platform) },
      processor: { usable: expect.any(Number) },
      memory: { totalBytes: expect.any(Number) },
      variables: { ALTSTREAM_MAX_NUM_SEQS: '12', ALTSTREAM_API_KEY: 'set, not shown' },
    });
    expect(Object.values(facts.packages)).not.toContain(null);
    const names = facts.backends.map(({ backend }) => backend);
    expect(names).toEqual(['cpu', 'cuda']);
  });

  it('and for persons, without keys', () => {
    const text = run();
    expect(text).not.toContain(canary);
    for (const title of ['versions', 'machine', 'backends', 'variables']) {
      expect(text).toMatch(new RegExp(`^${title}\\n {2}\\S`, 'm'));
    }
    expect(text).toMatch(/ALTSTREAM_MAX_NUM_SEQS +12$/m);
    expect(text).toMatch(/HF_TOKEN +set, not shown$/m);
    expect(text).toMatch(/cuda +\S/);
  });
});
