import { Command } from 'commander';
import pino from 'pino';
import { applyConfigFile } from '../config/config-file.js';
import { addServeFlags, type ServeFlags } from '../config/serve-flags.js';
import { serve } from '../serve.js';
import type { LoadProgress } from '../worker/engine-link.js';

/** A server for this process alone. */
export interface LocalServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/**
 * Serves a checkpoint on a free loopback port of this process, with the defaults of `altstream
 * serve` and its `ALTSTREAM_…` environment.
 *
 * @throws ExitError as `altstream serve` does
 */
export async function startLocalServer(
  model: string,
  events: {
    readonly onProgress: (progress: LoadProgress) => void;
    readonly onEngineFailure: (error: Error) => void;
  },
): Promise<LocalServer> {
  const own = ['--model', model, '--host', '127.0.0.1', '--port', '0'];
  const command = addServeFlags(new Command()).parse(own, { from: 'user' });
  applyConfigFile(command);
  const flags = command.opts<ServeFlags>();
  // Keys keep others out of a port that others know; this one is for this process.
  const { apiKey: _, ...open } = flags;
  const server = await serve({ flags: open, logger: pino({ level: 'silent' }), ...events });
  try {
    await server.ready();
  } catch (error) {
    await server.close(0);
    throw error;
  }
  return { baseUrl: `${server.url}/v1`, close: () => server.close(0) };
}
