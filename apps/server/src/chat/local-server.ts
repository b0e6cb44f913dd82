import { Command } from 'commander';
import pino from 'pino';
import { applyConfigFile } from '../config/config-file.js';
import { addServeFlags, type ServeFlags } from '../config/serve-flags.js';
import { ExitError } from '../errors/index.js';
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
  options: {
    /** What the command calls the folder, for errors. */
    readonly folderName?: string | undefined;
    /** It is for chats, which cannot do without a template. */
    readonly isForChats: boolean;
    readonly onProgress: (progress: LoadProgress) => void;
    readonly onEngineFailure: (error: Error) => void;
  },
): Promise<LocalServer> {
  const own = ['--model', model, '--host', '127.0.0.1', '--port', '0'];
  const command = addServeFlags(new Command()).parse(own, { from: 'user' });
  applyConfigFile(command);
  const flags = command.opts<ServeFlags>();
  // Keys keep others out of a port that others know; this one is for this process.
  const { apiKey: _, apiKeyFile: __, adminApiKey: ___, ...open } = flags;
  const server = await serve({ flags: open, logger: pino({ level: 'silent' }), ...options });
  try {
    await server.ready();
    if (options.isForChats) await checkTemplate(server.url);
  } catch (error) {
    await server.close(0);
    throw error;
  }
  return { baseUrl: `${server.url}/v1`, close: () => server.close(0) };
}

/** A server without a template that can be used serves text completions all the same. */
async function checkTemplate(url: string): Promise<void> {
  const answer = await fetch(`${url}/apply-template`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const { error } = (await answer.json()) as { error?: { message: string } };
  if (answer.status === 404 && error) throw new ExitError('model', error.message);
}
