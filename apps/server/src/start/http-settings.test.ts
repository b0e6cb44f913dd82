import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addServeFlags, type ServeFlags } from '../config/serve-flags.js';
import { workerOptions } from './engine-settings.js';
import { httpSettings } from './http-settings.js';

const parse = (...args: readonly string[]): ServeFlags =>
  addServeFlags(new Command('serve').exitOverride())
    .parse(args, { from: 'user' })
    .opts<ServeFlags>();
const settingsOf = (...args: readonly string[]) => {
  const place = { model: 'm', name: 'm', tokenizer: 't', folder: undefined };
  return httpSettings(parse(...args), place, ['m']);
};

const off = { trustsTemplates: false, strictTools: false, sglangCompat: false, hasGrammars: true };

it('routes read what the flags say', () => {
  expect(settingsOf()).toMatchObject(off);
  for (const [flags, more] of [
    [['--trust-request-chat-template'], { trustsTemplates: true }],
    [['--strict-tools'], { strictTools: true }],
    [['--sglang-compat'], { sglangCompat: true }],
    [['--grammar-backend', 'none'], { hasGrammars: false }],
    [['--grammar-backend', 'auto'], {}],
  ] as const) {
    expect([flags, settingsOf(...flags)]).toMatchObject([flags, { ...off, ...more }]);
  }
});

it('and so does the engine', () => {
  const of = (...args: readonly string[]) => workerOptions(parse(...args), 'm');
  expect(of()).toMatchObject({ device: 'auto', maxTenantShare: 1 });
  const more = ['--device', 'cuda', '--device-ids', '3', '--max-tenant-kv-share', '0.25'];
  expect(of(...more)).toMatchObject({ device: 'cuda:3', maxTenantShare: 0.25 });
});
