import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addServeFlags, type ServeFlags } from '../../src/config/serve-flags.js';
import { demoModelFolder } from '../../src/demo-model.js';
import { type Serving, startServing } from '../makers/serving.js';

const text = (name: string): string =>
  readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
const manifests = text('kubernetes.yaml')
  .split(/^---$/m)
  .map((part) => parse(part));
const [{ spec: deployment }, { spec: service }] = manifests;
const pod = deployment.template.spec;
const [container] = pod.containers;
const compose = parse(text('compose.yaml')).services.server;
const unit = text('altstream.service');
const dockerfile = text('Dockerfile');

/** The flags that a command line gives, which must all be known. */
function flagsOf([command, ...args]: readonly string[]): ServeFlags {
  expect(command).toBe('serve');
  const serve = addServeFlags(new Command('serve')).exitOverride();
  return serve.parse(args, { from: 'user' }).opts<ServeFlags>();
}

const execStart = /^ExecStart=\S+ \S+main\.js (.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
const commandLines: [string, readonly string[]][] = [
  ['kubernetes.yaml', container.args],
  ['compose.yaml', compose.command],
  ['altstream.service', execStart],
];

describe('files for deployment', () => {
  it.each(commandLines)('%s gives flags that there are', (_, args) => {
    expect(flagsOf(args)).toMatchObject({ shutdownTimeout: 30 });
  });

  it('let answers under way end before the process is killed', () => {
    const [, timeout] = commandLines.map(([, args]) => flagsOf(args).shutdownTimeout);
    const sleep = Number(container.lifecycle.preStop.exec.command[1]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(sleep + Number(timeout));
    expect(Number.parseInt(compose.stop_grace_period, 10)).toBeGreaterThan(Number(timeout));
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(Number(timeout));
  });

  it('keep keys from everybody, and the Service from setting --port', () => {
    const secret = pod.volumes.find(({ name }: { name: string }) => name === 'keys').secret;
    expect(secret.defaultMode & 0o007).toBe(0);
    expect(pod.enableServiceLinks).toBe(false);
    expect(service.ports[0].targetPort).toBe(container.ports[0].name);
    expect(dockerfile).toContain(`ALTSTREAM_PORT=${container.ports[0].containerPort}`);
  });

  it('set environment variables that flags have', () => {
    const known = new Set(addServeFlags(new Command('serve')).options.map(({ envVar }) => envVar));
    const named = [dockerfile, text('compose.yaml')].flatMap((file) =>
      [...file.matchAll(/(ALTSTREAM_\w+)[=:]/g)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  describe('beside a server', () => {
    let server: Serving;
    beforeAll(async () => {
      server = await startServing('--tokenizer', demoModelFolder(), '--mock-engine', '{}');
    });
    afterAll(() => server?.stop());

    it.each(['startupProbe', 'readinessProbe', 'livenessProbe'])(
      'the %s is answered',
      async (probe) => {
        const { path } = container[probe].httpGet;
        expect((await fetch(`${server.url}${path}`)).status).toBe(200);
      },
    );

    it('the check of the image says whether it is up', async () => {
      const [, script = ''] = /CMD \["node", "-e", "(.*)"\]/.exec(dockerfile) ?? [];
      const check = async (url: string) => {
        const code = script.replace('http://127.0.0.1:8000', url);
        expect(code).not.toBe(script);
        return (await once(spawn(process.execPath, ['-e', code]), 'exit'))[0];
      };
      expect(await check(server.url)).toBe(0);
      expect(await check('http://127.0.0.1:1')).toBe(1);
    });
  });
});
