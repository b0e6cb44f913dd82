import {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenOnSocket } from './unix-socket.js';

describe('a server on a Unix socket', () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-uds-'));
  const path = join(folder, 'a.sock');
  const apps: FastifyInstance[] = [];
  let other: Server | undefined;

  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => rmSync(path, { force: true }));
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await new Promise((resolve) => (other ? other.close(resolve) : resolve(undefined)));
    other = undefined;
  });

  async function start(at = path): Promise<FastifyInstance> {
    const app = Fastify();
    app.get('/', async () => 'here');
    apps.push(app);
    await listenOnSocket(app, at);
    return app;
  }
  const ask = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath: path, path: '/', agent: false }, (answer) => {
        answer.setEncoding('utf8').on('data', resolve);
      });
      asked.on('error', reject).end();
    });
  /** What a server that was killed leaves: a socket on which nobody listens. */
  async function leaveStale(): Promise<void> {
    const dead = createServer();
    await new Promise((resolve) => dead.listen(`${path}.dead`, () => resolve(undefined)));
    linkSync(`${path}.dead`, path);
    await new Promise((resolve) => dead.close(resolve));
    expect(statSync(path).isSocket()).toBe(true);
  }

  it('is open to owner and group, and gone when it closes', async () => {
    const umask = process.umask(0);
    try {
      const app = await start();
      expect(statSync(path).mode & 0o777).toBe(0o660);
      expect(process.umask()).toBe(0);
      expect(await ask()).toBe('here');
      await app.close();
      expect(existsSync(path)).toBe(false);
    } finally {
      process.umask(umask);
    }
  });

  it('replaces a socket that was left behind', async () => {
    await leaveStale();
    await start();
    expect(await ask()).toBe('here');
  });

  it('leaves one alone on which somebody listens', async () => {
    await start();
    await expect(start()).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/--uds .* is in use; stop the other program/),
    });
    expect(await ask()).toBe('here');
  });

  it('leaves files of other kinds alone', async () => {
    writeFileSync(path, 'mine');
    const is = { exitCode: 6, message: expect.stringMatching(/is no socket/) };
    await expect(start()).rejects.toMatchObject(is);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it('refuses a path that would be cut off, or has no folder', async () => {
    const long = join(folder, 'x'.repeat(120));
    const most = { exitCode: 2, message: expect.stringMatching(/at most 107/) };
    await expect(start(long)).rejects.toMatchObject(most);
    const is = { exitCode: 6, message: expect.stringMatching(/cannot listen on --uds/) };
    await expect(start(join(folder, 'no', 'a.sock'))).rejects.toMatchObject(is);
  });
});
