import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { rawAnswer } from './raw-answer.js';

describe('pages of other sites (S21)', () => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  const ask = (headers: Record<string, string>, method = 'GET', path = '/v1/models') =>
    rawAnswer(
      server.url,
      [
        `${method} ${path} HTTP/1.1`,
        ...Object.entries({ host: '127.0.0.1', connection: 'close', ...headers }).map(
          ([name, value]) => `${name}: ${value}`,
        ),
        '',
        '',
      ].join('\r\n'),
    );

  it('are refused by default, and get no header that would let them read', async () => {
    server = await startScripted({ allowedHosts: ['localhost', '::1'] });
    for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1.evil.example']) {
      const answer = await ask({ origin });
      expect(answer).toMatch(/^HTTP\/1\.1 403 [\s\S]*insufficient_permissions/);
      expect(answer).not.toMatch(/access-control/i);
      expect(await ask({ origin }, 'OPTIONS')).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(await ask({ origin: 'http://127.0.0.1' })).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('do not get in under a name that points here', async () => {
    server = await startScripted({ allowedHosts: ['localhost', '::1', 'inside.example'] });
    for (const host of ['evil.example', 'evil.example:8000', '127.0.0.1.evil.example', '[::2]']) {
      expect(await ask({ host })).toMatch(/^HTTP\/1\.1 403 [\s\S]*--allowed-hosts/);
      expect(await ask({ host }, 'GET', '/health')).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const host of [
      '127.0.0.1:1',
      'LOCALHOST:8000',
      '[::1]:8000',
      '127.9.0.1',
      'inside.example',
    ]) {
      expect(await ask({ host })).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  it('may be named, and then ask without their key first', async () => {
    const origin = 'https://app.example';
    server = await startScripted({ allowedOrigins: [origin], apiKeys: ['one'] });
    const preflight = await ask({ origin, 'access-control-request-method': 'POST' }, 'OPTIONS');
    expect(preflight).toMatch(/^HTTP\/1\.1 204 /);
    expect(preflight).toContain(`access-control-allow-origin: ${origin}`);
    expect(preflight).not.toMatch(/allow-credentials/i);
    const refused = await ask({ origin });
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    expect(refused).toContain(`access-control-allow-origin: ${origin}`);
    expect(await ask({ origin: 'https://else.example' })).toMatch(/^HTTP\/1\.1 403 /);
  });
});
