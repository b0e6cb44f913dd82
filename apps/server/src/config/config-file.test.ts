import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { applyConfigFile } from './config-file.js';
import { printedConfig } from './print-config.js';
import { addServeFlags, type ServeFlags } from './serve-flags.js';

const folder = mkdtempSync(join(tmpdir(), 'config-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  delete process.env['ALTSTREAM_PORT'];
});

function fileOf(text: string, name = 'config.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function parsed(...args: readonly string[]): Command {
  const command = addServeFlags(new Command('serve')).exitOverride();
  command.configureOutput({ writeErr: () => undefined }).parse(args, { from: 'user' });
  applyConfigFile(command);
  return command;
}

const flagsOf = (text: string, name?: string): ServeFlags =>
  parsed('--config', fileOf(text, name)).opts<ServeFlags>();

describe('a config file', () => {
  it('sets flags under their names, as YAML', () => {
    const text = [
      '# a server',
      '---',
      'port: 9000   # not 8000',
      'served_model_name: [m3, 1.10]',
      'cuda-graph-sizes:',
      '  - 1',
      '  - 4',
      "chat-template: 'it''s # here.jinja'",
      'default-chat-template-kwargs:',
      '  thinking_mode: disabled',
      '  budget: 8',
      'override: {"num_hidden_layers": 8}',
      'enforce-eager: true',
      'enable-prefix-caching: false',
      'disable-log-requests: false',
      '',
    ].join('\n');
    const flags = flagsOf(text);
    expect(flags).toMatchObject({
      port: 9000,
      servedModelName: ['m3', '1.10'],
      cudaGraphSizes: [1, 4],
      chatTemplate: "it's # here.jinja",
      defaultChatTemplateKwargs: { thinking_mode: 'disabled', budget: 8 },
      override: ['num_hidden_layers=8'],
      enforceEager: true,
      enablePrefixCaching: false,
    });
    expect(flags.disableLogRequests).toBeUndefined();
  });

  it('sets flags as JSON', () => {
    const json = { port: 9000, 'api-key': ['a', 'b'], 'cuda-graph-sizes': [2], seed: 3 };
    expect(flagsOf(JSON.stringify(json), 'config.json')).toMatchObject({
      port: 9000,
      apiKey: ['a', 'b'],
      cudaGraphSizes: [2],
      seed: 3,
    });
  });

  it('loses to the environment, which loses to a flag', () => {
    const path = fileOf('port: 9000\nhost: ::1\n');
    expect(parsed('--config', path).opts()).toMatchObject({ port: 9000, host: '::1' });
    process.env['ALTSTREAM_PORT'] = '9001';
    expect(parsed('--config', path).opts()).toMatchObject({ port: 9001, host: '::1' });
    const both = parsed('--config', path, '--port', '9002', '--host', '127.0.0.1');
    expect(both.opts()).toMatchObject({ port: 9002, host: '127.0.0.1' });
    expect(both.getOptionValueSource('host')).toBe('cli');
  });

  it.each([
    ['prot: 1', /line 1: prot is no flag of this command; meant port\?/],
    ['\nmax_modle_len: 1', /line 2: max_modle_len .* meant max-model-len\?/],
    ['quite-unlike: 1', /line 1: quite-unlike .* --help/],
    ['config: other.yaml', /config is no flag/],
    ['port: 99999', /line 1: port is "99999"\. Expected an integer from 0 to 65535/],
    ['port: [1, 2]', /port is a list, expected one value/],
    ['enforce-eager: maybe', /enforce-eager is "maybe", expected true or false/],
    ['port: 1\nport: 2', /line 2: port is there twice/],
    [
      'max-num-seqs: 1\nmax-running-requests: 2',
      /max-running-requests and max-num-seqs are the same/,
    ],
    ['model:', /line 1: a value is missing/],
    ['model: &anchor x', /line 1: .* needs quotes/],
    ['model: |\n  x', /line 2: a value goes on/],
    ['  port: 1', /line 1: expected `name: value`/],
    ['just text', /line 1: expected `name: value`/],
    ['cuda-graph-sizes: [1, [2]', /line 1: a value in brackets must be JSON/],
    ['override:\n  a: 1\n    b: 2', /line 3: .* one column/],
    ['model:\n\t- x', /line 2: a tab/],
  ])('%j is refused', (text, message) => {
    const expected = { exitCode: 2, message: expect.stringMatching(message) };
    expect(() => flagsOf(text)).toThrow(expect.objectContaining(expected));
  });

  it.each([
    ['[1]', /expected a JSON object/],
    ['{"port": null}', /port is null/],
    ['{"port": ', /cannot be read/],
    ['{"__proto__": {"port": 1}}', /__proto__ is no flag/],
  ])('JSON %j is refused', (text, message) => {
    expect(() => flagsOf(text, 'config.json')).toThrow(message);
  });

  it('that is not there is an error of usage', () => {
    const missing = expect.objectContaining({ exitCode: 2 });
    expect(() => parsed('--config', join(folder, 'no.yaml'))).toThrow(missing);
  });
});

describe('--print-config', () => {
  it('says where each value is from, and hides keys', () => {
    process.env['ALTSTREAM_PORT'] = '9001';
    const path = fileOf('host: ::1\napi-key: very-secret\n');
    const text = printedConfig(parsed('--config', path, '--max-num-seqs', '3'));
    expect(text).toContain('port: 9001  # environment\n');
    expect(text).toContain('host: "::1"  # file\n');
    expect(text).toContain('max-num-seqs: 3  # flag\n');
    expect(text).toContain('dtype: "auto"  # default\n');
    expect(text).toContain('# api-key: not shown (1)  # file\n');
    expect(text).not.toMatch(/secret|print-config/);
  });

  it('prints a config file that says the same', () => {
    const opposite = '--no-enable-prefix-caching';
    const own = ['--simulate-tp-rank', '1/4', '--cuda-graph-max-bs', '4', '--seed', '7'];
    const given = parsed(...own, opposite);
    const again = flagsOf(printedConfig(given), 'printed.yaml');
    expect({ ...again, config: undefined }).toEqual({ ...given.opts(), config: undefined });
  });
});
