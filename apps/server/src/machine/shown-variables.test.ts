import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addClientFlags } from '../cli/client-flags.js';
import { readEnvironment } from '../config/environment.js';
import { addServeFlags } from '../config/serve-flags.js';
import { harmlessVariables } from './harmless-variables.js';
import { shownVariables } from './shown-variables.js';

const hidden = 'set, not shown';
/** Variables that are read, and never shown: keys, paths of keys, words of an operator. */
const secrets = [
  ...['ALTSTREAM_ADMIN_API_KEY', 'ALTSTREAM_API_KEY', 'ALTSTREAM_API_KEY_FILE'],
  ...['ALTSTREAM_DEFAULT_CHAT_TEMPLATE_KWARGS', 'ALTSTREAM_MOCK_ENGINE', 'ALTSTREAM_SSL_KEYFILE'],
];

it('variables that tell something are shown, in order, and nothing secret with them', () => {
  const canary = 'c4n4ry';
  const unknown = [
    ...[...secrets, 'HF_TOKEN', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_RESOURCE_ATTRIBUTES'],
    ...['ALTSTREAM_SSL_PASSWORD', 'ALTSTREAM_NEW', 'CUDA_AUTH', 'HF_SECRET', 'NVIDIA_API'],
    ...['OTEL_EXPORTER_OTLP_CLIENT_KEY', 'ALTSTREAM_SERVICE_HOST', 'MOE_KERNELS_NEW'],
  ];
  const others = ['PATH', 'USER', 'AWS_SECRET_ACCESS_KEY', 'MY_ALTSTREAM_PORT', 'HOSTNAME'];
  const shown = shownVariables(
    {
      ...Object.fromEntries([...unknown, ...others].map((name) => [name, canary])),
      NODE_OPTIONS: '--max-old-space-size=4096',
      ALTSTREAM_TOKENIZER: '/home/ann/m3',
      ALTSTREAM_MODEL: '/home/anna/m3:/home/ann',
      ALTSTREAM_MAX_NUM_BATCHED_TOKENS: '4096',
      CUDA_VISIBLE_DEVICES: '1',
      NCCL_DEBUG: undefined,
    },
    '/home/ann',
  );
  expect(JSON.stringify(shown)).not.toContain(canary);
  for (const name of unknown) expect([name, shown[name]]).toEqual([name, hidden]);
  for (const name of [...others, 'NCCL_DEBUG']) expect(shown).not.toHaveProperty(name);
  expect(shown).toMatchObject({
    NODE_OPTIONS: '--max-old-space-size=4096',
    ALTSTREAM_TOKENIZER: '~/m3',
    ALTSTREAM_MODEL: '/home/anna/m3:~',
    ALTSTREAM_MAX_NUM_BATCHED_TOKENS: '4096',
    CUDA_VISIBLE_DEVICES: '1',
  });
  expect(Object.keys(shown)).toEqual(Object.keys(shown).sort());
});

describe('URLs are shown without what may be secret in them', () => {
  it.each([
    ['http://127.0.0.1:4318', 'http://127.0.0.1:4318'],
    ['https://c.example/v1/traces?api-key=SECRET', 'https://c.example/v1/traces'],
    ['https://c.example/v1/traces#SECRET', 'https://c.example/v1/traces'],
    ['https://ann:SECRET@c.example/x', 'https://c.example/x'],
    ['https://SECRET@c.example:8443', 'https://c.example:8443'],
    ['https://u:p@SECRET@c.example', 'https://c.example'],
    ['HTTPS://u:SECRET@c.example', 'https://c.example'],
    ['https://a.example https://u:SECRET@b.example/', 'https://a.example https://b.example'],
    ['--import=file:///opt/hook.mjs?key=SECRET', '--import=file:///opt/hook.mjs'],
    ['-r @scope/hook --title=1', '-r @scope/hook --title=1'],
    // Where the host ends is not sure.
    ['https://u:p/SECRET@c.example', hidden],
    ['https://u:1/SECRET@c.example', hidden],
    ['https://u:p#SECRET@c.example', hidden],
    ['https://u:p?SECRET@c.example', hidden],
    ['https://u:p SECRET@c.example', hidden],
    ['https://u:1 SECRET@c.example', hidden],
    ['https://a.example,https://u:SECRET@b.example', hidden],
    ['https://u:1/://SECRET@c.example', hidden],
    ['://u:SECRET@c.example', hidden],
    ['https:/u:SECRET@c.example', hidden],
    ['u:SECRET@c.example', hidden],
    ['c.example/?api-key=SECRET', hidden],
    ['https://a.example c.example/?api-key=SECRET', hidden],
  ])('%s', (value, expected) => {
    const name = value.startsWith('-') ? 'NODE_OPTIONS' : 'ALTSTREAM_OTLP_TRACES_ENDPOINT';
    expect(shownVariables({ [name]: value }, '/home/ann')).toEqual({ [name]: expected });
  });
});

describe('folders are shown, and not what may be an odd URL', () => {
  it.each([
    ['/models/MiniMax-M3', '/models/MiniMax-M3'],
    ['models/@scope/m3', 'models/@scope/m3'],
    ['C:\\models\\m3', 'C:\\models\\m3'],
    ['\\\\files\\models', '\\\\files\\models'],
    ['MiniMaxAI/MiniMax-M3', 'MiniMaxAI/MiniMax-M3'],
    ['//u:SECRET@h', hidden],
    ['//SECRET@h/path', hidden],
    ['u:SECRET@h/path', hidden],
    ['u:SECRET/@h/path', hidden],
    ['u:SECRET @h/path', hidden],
    ['SECRET@h/path', hidden],
    ['\\\\u:SECRET@h\\path', hidden],
    ['\\\\h@SECRET\\path', hidden],
    ['h/path?key=SECRET', hidden],
    ['h/path#SECRET', hidden],
    ['s3:u:SECRET@h/path', hidden],
    ['/models/a:u:SECRET@h', hidden],
  ])('%s', (value, expected) => {
    for (const name of ['ALTSTREAM_MODEL', 'ALTSTREAM_CRASH_DIR', 'HF_HOME']) {
      expect(shownVariables({ [name]: value }, '/home/ann')).toEqual({ [name]: expected });
    }
  });
});

describe('what may be a login, a key or a password is not shown in any writing', () => {
  const free = ['NODE_OPTIONS', 'ALTSTREAM_SERVED_MODEL_NAME', 'ALTSTREAM_TOKENIZER'];

  it.each([
    ...['%2F%2Fu:SECRET%40h', 'https%3a%2f%2fu%3aSECRET%40h', '//u:SECRET%2540h'],
    ...['https://h/u:SECRET%40h', 'models/SECRET%40h', 'u:SECRET', '-r ./x u:SECRET'],
    ...['token=SECRET', '--x-api-key=SECRET', 'Password: SECRET', 'Bearer SECRET', 'hf_SECRET'],
    ...['m3,sk-SECRET', '--import=data:text/javascript,SECRET'],
  ])('%s', (value) => {
    for (const name of [...free, 'CUDA_VISIBLE_DEVICES']) {
      expect(shownVariables({ [name]: value }, '/home/ann')).toEqual({ [name]: hidden });
    }
  });

  it.each([
    ...[
      'org/m3:latest',
      'MiniMaxAI/MiniMax-M3',
      'task-runner',
      'C:\\m3',
      '/a:/b',
      '::1',
      'fe80::1',
    ],
    ...['localhost:8000', '--max-old-space-size=4096 --title=1', '/models/m%20three', 'keys/m3'],
  ])('%s is shown', (value) => {
    for (const name of free) expect(shownVariables({ [name]: value })).toEqual({ [name]: value });
  });

  it('devices are shown as such only', () => {
    const name = 'CUDA_VISIBLE_DEVICES';
    const uuid = 'GPU-1b2c3d4e-0000-4444-8888-aabbccddeeff';
    for (const value of ['', '0', '0, 1', '-1', 'all', uuid, `MIG-${uuid}/1/0`, '0:1,3']) {
      expect(shownVariables({ [name]: value })).toEqual({ [name]: value });
    }
    for (const value of ['SECRET', '0,SECRET', 'GPU-SECRET', '12345678']) {
      expect(shownVariables({ [name]: value })).toEqual({ [name]: hidden });
    }
  });
});

describe('every variable that is read is known to be harmless, or to be hidden', () => {
  it('those of flags', () => {
    const commands = [addServeFlags, addClientFlags].map((add) => add(new Command('any')));
    const names = commands.flatMap(({ options }) =>
      options.flatMap(({ envVar }) => (envVar === undefined ? [] : [envVar])),
    );
    expect(names.length).toBeGreaterThan(80);
    expect(names.filter((name) => !harmlessVariables.has(name)).sort()).toEqual(
      // The key of a command that asks a server is that of the server.
      ['ALTSTREAM_API_KEY', ...secrets].sort(),
    );
    const flags = [...harmlessVariables].filter((name) => name.startsWith('ALTSTREAM_'));
    expect(flags.filter((name) => !names.includes(name))).toEqual([]);
  });

  it('those of other tools', () => {
    const read: string[] = [];
    const variables = new Proxy<Record<string, string>>(
      {},
      {
        get: (_, name) => {
          read.push(String(name));
          return undefined;
        },
      },
    );
    readEnvironment(variables);
    expect(read.sort()).toEqual([
      'HF_HOME',
      'HF_HUB_CACHE',
      'OTEL_BSP_MAX_QUEUE_SIZE',
      'OTEL_SERVICE_NAME',
      'XDG_CACHE_HOME',
    ]);
    expect(read.filter((name) => !harmlessVariables.has(name))).toEqual([]);
  });

  it('those of the packages below', () => {
    const root = fileURLToPath(new URL('../../../../packages/', import.meta.url));
    const folders = readdirSync(root)
      .flatMap((name) => [join(root, name, 'src'), join(root, name, 'native')])
      .filter((folder) => existsSync(folder));
    const names = folders
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((file) => /(?<!\.test)\.(ts|cpp)$/.test(file))
          .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(reading)]),
      )
      .map(([, ...found]) => String(found.find((name) => name !== undefined)));
    expect(names).toEqual(
      expect.arrayContaining(['CRT_WARN_LEAKS', 'CUDA_RUNTIME_BINARY', 'MOE_KERNELS_DISABLE_PDL']),
    );
    const known = [...harmlessVariables];
    // A name that ends with an underscore is the beginning of several.
    const isKnown = (name: string) =>
      known.some((one) => one === name || (name.endsWith('_') && one.startsWith(name)));
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
  });
});

/** How sources get at a variable. */
const reading =
  /(?:env|environment)(?:\[|, )['`]([A-Z][A-Z\d_]+)|\benv\.([A-Z][A-Z\d_]+)|getenv\("([A-Z\d_]+)/g;
