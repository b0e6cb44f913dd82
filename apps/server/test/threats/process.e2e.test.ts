import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { type Serving, startServing } from '../makers/serving.js';

const isLinux = process.platform === 'linux';

/** Ports on which a process listens, by the sockets that it has open. */
function listening(pid: number): number[] {
  const files = readdirSync(`/proc/${pid}/fd`).map((file) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${file}`);
    } catch {
      return '';
    }
  });
  const inodes = new Set(files.flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []));
  return ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => {
        return inodes.has(inode ?? '') && (kind.startsWith('udp') || state === '0A');
      })
      .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16)),
  );
}

describe('a server that runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-threats-'));
  const marker = join(folder, 'was-run');
  let model: ModelFolder;
  let server: Serving;

  beforeAll(async () => {
    model = await makeModelFolder('T32');
    const file = join(model.path, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const auto = { AutoConfig: 'configuration_evil.Evil', AutoModel: 'index.js' };
    writeFileSync(file, JSON.stringify({ ...config, auto_map: auto }));
    const javascript = `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`;
    for (const name of ['index.js', 'index.cjs', 'tokenizer.js', 'config.js']) {
      writeFileSync(join(model.path, name), javascript);
    }
    writeFileSync(
      join(model.path, 'configuration_evil.py'),
      `open(${JSON.stringify(marker)}, 'w')`,
    );
    server = await startServing('--model', model.path, '--device', 'cpu');
  });
  afterAll(async () => {
    await server?.stop();
    model?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs no code that lies beside the weights, whatever the config names (S16)', async () => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect(existsSync(marker)).toBe(false);
  });

  it.skipIf(!isLinux)('listens on the port of HTTP and on nothing else (S13)', () => {
    expect(listening(server.child.pid ?? 0)).toEqual([Number(new URL(server.url).port)]);
  });
});
