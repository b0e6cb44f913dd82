import { readKeyFile } from '../config/key-file.js';
import type { ServeFlags } from '../config/serve-flags.js';
import { ExitError } from '../errors/index.js';

const loopback = new Set(['127.0.0.1', '::1', 'localhost']);

/** The keys of clients, from flags, environment and file. @throws ExitError if the file is none */
export function keysOf({ apiKey, apiKeyFile }: ServeFlags): readonly string[] {
  return [...(apiKey ?? []), ...(apiKeyFile === undefined ? [] : readKeyFile(apiKeyFile))];
}

/**
 * True if others than this machine's programs may reach the server. A Unix socket counts: whoever
 * may open it is settled by the file, but behind it stands a proxy as a rule, and behind that
 * everybody.
 */
export function isExposed({ host, uds }: ServeFlags): boolean {
  return uds !== undefined || !loopback.has(host);
}

/** Everybody who reaches the port may use the model, so beyond loopback a key is wanted. */
export function checkExposure(flags: ServeFlags): void {
  const { host, uds, adminApiKey, allowUnauthenticated } = flags;
  // A socket's file says who may open it.
  if (uds !== undefined || loopback.has(host)) return;
  if (keysOf(flags).length > 0 || adminApiKey?.length || allowUnauthenticated) return;
  throw new ExitError(
    'usage',
    `--host ${host} is reachable from other machines; pass --api-key KEY, or --allow-unauthenticated if that is meant`,
  );
}

/**
 * On loopback only names of this machine, so that no other name can be pointed here. No page can be
 * pointed to a Unix socket, and a proxy in front of it passes on whatever name clients use.
 */
export function allowedHosts({
  host,
  uds,
  allowedHosts: more,
}: ServeFlags): readonly string[] | undefined {
  return uds === undefined && loopback.has(host) ? [...loopback, ...(more ?? [])] : more;
}
