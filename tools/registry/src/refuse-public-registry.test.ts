import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { refusePublicRegistry } from './refuse-public-registry.js';

const folder = mkdtempSync(join(tmpdir(), 'altstream-guard-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text = '', mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const good = {
  npm_config_registry: 'http://127.0.0.1:4873/',
  npm_config_userconfig: file('npmrc', '//127.0.0.1:4873/:_authToken=dummy\n'),
};
const publicRegistry = 'https://registry.example.org/';

describe('npm_config_registry', () => {
  for (const address of [
    'http://127.0.0.1:4873/',
    'http://127.0.0.1:4873',
    'http://[::1]:4873/',
    'http://localhost:4873/',
  ]) {
    it(`accepts ${address}`, () => {
      expect(() => refusePublicRegistry({ ...good, npm_config_registry: address })).not.toThrow();
    });
  }

  for (const address of [
    '',
    '127.0.0.1:4873',
    publicRegistry,
    'http://127.0.0.1.example.org/',
    'http://127.0.0.1@example.org/',
    'http://localhost.example.org/',
    'http://example.org/#http://127.0.0.1/',
    'http://127.0.0.1\\@example.org/',
    'http://127.0.0.1:4873/\n',
    'http://0.0.0.0:4873/',
    'ftp://127.0.0.1/',
  ]) {
    it(`refuses ${JSON.stringify(address)}`, () => {
      expect(() => refusePublicRegistry({ ...good, npm_config_registry: address })).toThrow(
        /npm_config_registry is ".*expected a loopback address/s,
      );
    });
  }

  it('refuses when it is unset, whatever the user config says', () => {
    const npmrc = file('only-npmrc', 'registry=http://127.0.0.1:4873/\n');
    expect(() => refusePublicRegistry({ npm_config_userconfig: npmrc })).toThrow(
      'npm_config_registry is ""',
    );
  });

  it('refuses the variable in upper case alone, which changesets does not read', () => {
    const { npm_config_userconfig, npm_config_registry: NPM_CONFIG_REGISTRY } = good;
    expect(() => refusePublicRegistry({ npm_config_userconfig, NPM_CONFIG_REGISTRY })).toThrow(
      'npm_config_registry is ""',
    );
  });
});

describe('registries that would win over it', () => {
  for (const name of [
    'NPM_CONFIG_REGISTRY',
    'npm_config_@altstream:registry',
    'NPM_CONFIG_@altstream:registry',
  ]) {
    it(`refuses a public one in ${name}`, () => {
      expect(() => refusePublicRegistry({ ...good, [name]: publicRegistry })).toThrow(name);
    });
  }

  for (const line of [`registry=${publicRegistry}`, ` @altstream:registry = ${publicRegistry}`]) {
    it(`refuses the line "${line}" in the user config`, () => {
      const npm_config_userconfig = file('scoped', `; comment\n${line}\n`);
      expect(() => refusePublicRegistry({ ...good, npm_config_userconfig })).toThrow(
        publicRegistry,
      );
    });
  }
});

describe('npm_config_userconfig', () => {
  const link = join(folder, 'link');
  symlinkSync(good.npm_config_userconfig, link);
  const shared = file('shared', '', 0o644);
  for (const [what, userConfig, why] of [
    ['unset', undefined, 'is not an absolute path'],
    ['empty', '', 'is not an absolute path'],
    ['relative', 'npmrc', 'is not an absolute path'],
    ['missing', join(folder, 'missing'), 'is not a regular file'],
    ['a folder', folder, 'is not a regular file'],
    ['a link', link, 'is not a regular file'],
    ['readable by others', shared, 'others may read'],
  ] as const) {
    it(`refuses a file that is ${what}`, () => {
      const environment = { ...good, npm_config_userconfig: userConfig };
      expect(() => refusePublicRegistry(environment)).toThrow(new RegExp(why));
    });
  }

  for (const [what, temporary] of [
    ['in the temporary folder itself', folder],
    ['outside the temporary folder', mkdtempSync(join(folder, 'other-'))],
  ] as const) {
    it(`refuses a private file ${what}`, () => {
      vi.stubEnv('TMPDIR', temporary);
      try {
        expect(() => refusePublicRegistry(good)).toThrow('does not lie in a folder of its own');
      } finally {
        vi.unstubAllEnvs();
      }
    });
  }
});
