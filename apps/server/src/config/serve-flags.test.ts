import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addServeFlags, type ServeFlags } from './serve-flags.js';

function parse(...args: readonly string[]): ServeFlags {
  const command = addServeFlags(new Command('serve')).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  command.parse(args, { from: 'user' });
  return command.opts<ServeFlags>();
}

describe('the flags of serve', () => {
  it('all have an environment twin and a line in docs/flags.md', () => {
    const docs = readFileSync(new URL('../../docs/flags.md', import.meta.url), 'utf8');
    const shown = addServeFlags(new Command('serve')).options.filter(({ hidden }) => !hidden);
    for (const { long, envVar } of shown) {
      const row = docs.split('\n').find((line) => line.includes(`\`${long}`)) ?? `no ${long}`;
      expect(row).toContain(`\`${envVar}\``);
    }
  });

  it.each([
    [['--cuda-graph-sizes', '1', '2,4'], { cudaGraphSizes: [1, 2, 4] }],
    [['--device', 'cuda'], { device: 'cuda' }],
    [['--device-ids', '2'], { deviceIds: [2] }],
    [['--device-ids', '0,1', '3'], { deviceIds: [0, 1, 3] }],
    [['--grammar-backend', 'none'], { grammarBackend: 'none' }],
    [['--api-key', 'a', 'b'], { apiKey: ['a', 'b'] }],
    [['--default-chat-template-kwargs', '{"a":1}'], { defaultChatTemplateKwargs: { a: 1 } }],
    [
      ['--override', 'num_hidden_layers=8', 'rope_theta=1e4', '--override', 'vocab_size=512'],
      { override: ['num_hidden_layers=8', 'rope_theta=1e4', 'vocab_size=512'] },
    ],
    [['--simulate-tp-rank', '1/4'], { simulateTpRank: { rank: 1, size: 4 } }],
    [['--gpu-memory-utilization', '0.85'], { gpuMemoryUtilization: 0.85 }],
    [['--no-enable-prefix-caching'], { enablePrefixCaching: false }],
    [['--enable-prefix-caching'], { enablePrefixCaching: true }],
    [['--no-async-scheduling'], { asyncScheduling: false }],
    [['--async-scheduling'], { asyncScheduling: true }],
    [['--disable-overlap-schedule'], { asyncScheduling: false }],
    [['--prefix-cache-isolation', 'api-key'], { prefixCacheIsolation: 'api-key' }],
    [['--logprobs-mode', 'raw_logprobs'], { logprobsMode: 'raw' }],
    [['--logprobs-mode', 'processed_logprobs'], { logprobsMode: 'processed' }],
    [['--logprobs-mode', 'processed'], { logprobsMode: 'processed' }],
    [
      ['--mock-engine', '{"decodeMs":5,"answers":["a"],"faults":[{"kind":"slow","at":2,"ms":9}]}'],
      { mockEngine: { decodeMs: 5, answers: ['a'], faults: [{ kind: 'slow', at: 2, ms: 9 }] } },
    ],
    [['--load-format', 'dummy'], { loadFormat: 'dummy', seed: 0 }],
    [['--root-path', '/api/m3'], { rootPath: '/api/m3', metricsAuth: 'key' }],
    [['--metrics-alias', 'sglang', '--log-content'], { metricsAlias: 'sglang', logContent: true }],
    [['--otel-capture-content'], { otelCaptureContent: true }],
    [
      [],
      {
        port: 8000,
        host: '127.0.0.1',
        maxNumSeqs: 8,
        device: 'auto',
        enablePrefixCaching: true,
        asyncScheduling: true,
        logprobsMode: 'raw',
      },
    ],
  ])('%j', (args, expected) => {
    expect(parse(...args)).toMatchObject(expected);
  });

  it.each([
    ['--port', '70000'],
    ['--root-path', 'api'],
    ['--root-path', '/api/'],
    ['--root-path', '/api//m3'],
    ['--root-path', '/../x'],
    ['--metrics-auth', 'nobody'],
    ['--otlp-traces-endpoint', 'localhost:4317'],
    ['--otlp-traces-endpoint', 'http://me:secret@localhost:4318'],
    ['--otlp-traces-endpoint', 'http://localhost:4318/v1/traces?api-key=secret'],
    ['--metrics-alias', 'tgi'],
    ['--reasoning-field', 'thoughts'],
    ['--default-max-tokens', '0'],
    ['--port', ''],
    ['--device', 'tpu'],
    ['--dtype', 'int3'],
    ['--max-num-seqs', '0'],
    ['--log-level', 'loud'],
    ['--default-chat-template-kwargs', '[1]'],
    ['--override', 'num_hidden_layers'],
    ['--simulate-tp-rank', '4/4'],
    ['--simulate-tp-rank', '1'],
    ['--gpu-memory-utilization', '0'],
    ['--gpu-memory-utilization', '1.1'],
    ['--load-format', 'gguf'],
    ['--prefix-cache-isolation', 'tenant'],
    ['--logprobs-mode', 'cooked'],
    ['--seed', '-1'],
    ['--mock-engine', 'fast'],
    ['--mock-engine', '{"decodeMs":-1}'],
    ['--mock-engine', '{"speed":1}'],
    ['--mock-engine', '{"faults":[{"kind":"fire","at":1}]}'],
  ])('refuses %s %j', (flag, value) => {
    expect(() => parse(flag, value)).toThrow(flag);
  });

  it.each(['raw_logits', 'processed_logits'])('says why --logprobs-mode is not %s', (mode) => {
    const reason = 'Logits are not told, only log-probabilities: raw (raw_logprobs) or processed';
    expect(() => parse('--logprobs-mode', mode)).toThrow(reason);
  });

  it('says whose doing it is when Kubernetes has set the port', () => {
    expect(() => parse('--port', 'tcp://10.0.0.7:80')).toThrow(/Service; set enableServiceLinks/);
  });

  it('reads the environment, and lets a flag win', () => {
    process.env['ALTSTREAM_PORT'] = '9001';
    expect(parse().port).toBe(9001);
    expect(parse('--port', '9002').port).toBe(9002);
    delete process.env['ALTSTREAM_PORT'];
    process.env['ALTSTREAM_OVERRIDE'] = 'moe_layer_freq=[0, 1] num_hidden_layers=2';
    expect(parse().override).toEqual(['moe_layer_freq=[0, 1]', 'num_hidden_layers=2']);
    delete process.env['ALTSTREAM_OVERRIDE'];
  });
});
