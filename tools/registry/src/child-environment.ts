import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The whole environment of a child process that may publish to, or install from, the registry at
 * `url`: a home, a cache and a user config of its own with a dummy token, and no credentials.
 *
 * @param root the workspace; its own pnpm is found first
 * @param folder an empty folder made with mkdtemp; files are written into it
 */
export function childEnvironment(
  root: string,
  folder: string,
  url: string,
): Readonly<Record<string, string>> {
  const home = join(folder, 'home');
  mkdirSync(home);
  const userConfig = join(folder, 'npmrc');
  writeFileSync(userConfig, `//${new URL(url).host}/:_authToken=dummy\n`, { mode: 0o600 });
  const globalConfig = join(folder, 'global-npmrc');
  writeFileSync(globalConfig, '', { mode: 0o600 });
  return {
    PATH: [join(root, '.tools', 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    CI: 'true',
    NO_COLOR: '1',
    npm_config_registry: url,
    npm_config_userconfig: userConfig,
    npm_config_globalconfig: globalConfig,
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    // The copy is a git repository of its own; changesets makes tags there.
    GIT_CONFIG_GLOBAL: globalConfig,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'publish test',
    GIT_AUTHOR_EMAIL: 'publish@test.invalid',
    GIT_COMMITTER_NAME: 'publish test',
    GIT_COMMITTER_EMAIL: 'publish@test.invalid',
  };
}
