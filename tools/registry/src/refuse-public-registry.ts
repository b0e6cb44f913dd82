import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, relative } from 'node:path';

const loopback = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * The first statement of everything that can publish outside a release.
 *
 * `changeset publish` takes the registry from the environment variable `npm_config_registry` (lower
 * case); without it, it publishes to the public registry, whatever a user config file says. So the
 * variable must be a loopback address, no other variable and no line of the user config may name
 * another registry (one of a scope wins over it), and the user config must be a private file in a
 * folder of its own below the temporary folder, so that no credentials of a person are used.
 *
 * @throws Error naming the variable, what was expected and what came
 */
export function refusePublicRegistry(environment: Readonly<NodeJS.ProcessEnv>): void {
  requireLoopback('npm_config_registry', environment['npm_config_registry'] ?? '');
  for (const [name, value] of Object.entries(environment)) {
    if (/^npm_config_(.*:)?registry$/i.test(name)) requireLoopback(name, value ?? '');
  }
  const userConfig = environment['npm_config_userconfig'] ?? '';
  requirePrivateTemporaryFile(userConfig);
  for (const line of readFileSync(userConfig, 'utf8').split('\n')) {
    const [, registry] = /^\s*(?:[^=;#\s]+:)?registry\s*=\s*(.*?)\s*$/i.exec(line) ?? [];
    if (registry !== undefined) requireLoopback(`a registry in ${userConfig}`, registry);
  }
}

function requireLoopback(what: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // Only the plain spelling, so that no two parsers can disagree about the host.
  const isPlain = url !== undefined && (address === url.href || `${address}/` === url.href);
  if (isPlain && /^https?:$/.test(url.protocol) && loopback.has(url.hostname)) return;
  throw new Error(
    `publish test: ${what} is "${address}", expected a loopback address such as http://127.0.0.1:4873/`,
  );
}

function requirePrivateTemporaryFile(file: string): void {
  const fault = faultOfUserConfig(file);
  if (fault === undefined) return;
  throw new Error(
    `publish test: npm_config_userconfig is "${file}", which ${fault}; expected a file of mode 600 ` +
      'in a folder made with mkdtemp, with a dummy token for the loopback registry',
  );
}

function faultOfUserConfig(file: string): string | undefined {
  if (!isAbsolute(file)) return 'is not an absolute path';
  const status = lstatSync(file, { throwIfNoEntry: false });
  if (!status?.isFile()) return 'is not a regular file';
  if ((status.mode & 0o077) !== 0) return 'others may read or write';
  const place = relative(realpathSync(tmpdir()), realpathSync(dirname(file)));
  if (place === '' || place.startsWith('..') || isAbsolute(place)) {
    return 'does not lie in a folder of its own below the temporary folder';
  }
  return undefined;
}
