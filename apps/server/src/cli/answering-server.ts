import { startLocalServer } from '../chat/local-server.js';
import { chooseModel } from '../client/served-models.js';
import {
  defaultBaseUrl,
  parseServerAddress,
  type ServerAddress,
} from '../client/server-address.js';
import { demoModelFolder } from '../demo-model.js';
import { ClientError, ExitError, exitCodes } from '../errors/index.js';
import type { ClientFlags } from './client-flags.js';
import { makeBars } from './terminal/progress.js';

/** Where answers come from, and what ends it. */
export interface AnsweringServer {
  readonly address: ServerAddress;
  close(): Promise<void>;
}

/** What the command line said of it. */
export interface Wanted {
  /** A checkpoint to load here. */
  readonly folder: string | undefined;
  /** What the command calls the folder, such as `--folder DIR`. */
  readonly folderName: string;
  /** Whether chats are wanted, or texts. */
  readonly isForChats: boolean;
  readonly flags: ClientFlags;
  readonly isUrlGiven: boolean;
}

/**
 * A folder is served here; without one the given or default address, and at last the demo model.
 */
export async function findServer(wanted: Wanted): Promise<AnsweringServer> {
  const { folder, folderName, isForChats, flags, isUrlGiven } = wanted;
  const address = parseServerAddress(flags.baseUrl, flags.apiKey);
  if (folder !== undefined) {
    if (isUrlGiven) {
      const both = `${folderName} and --base-url were given`;
      throw new ExitError('usage', `${both}; which of the two is meant?`);
    }
    return loadHere(folder, { folderName, isForChats });
  }
  const remote: AnsweringServer = { address, close: async () => {} };
  if (isUrlGiven) return remote;
  try {
    await chooseModel(address, undefined);
    return remote;
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'CLIENT_UNREACHABLE') throw error;
    return loadHere(demoFolderOr(error), { isForChats });
  }
}

function demoFolderOr(unreachable: ClientError): string {
  try {
    return demoModelFolder();
  } catch (error) {
    const facts = `no server answers at ${defaultBaseUrl}, and ${(error as Error).message}`;
    const remedy = 'or pass --base-url, or the folder of a checkpoint';
    throw new ExitError('usage', `${facts}; ${remedy}`, { cause: unreachable });
  }
}

async function loadHere(
  folder: string,
  wanted: { readonly folderName?: string; readonly isForChats: boolean },
): Promise<AnsweringServer> {
  process.stderr.write(`Loading ${folder}\n`);
  const started = performance.now();
  const bars = process.stderr.isTTY ? makeBars() : undefined;
  const local = await startLocalServer(folder, {
    ...wanted,
    onProgress: (progress) => bars?.update(progress),
    onEngineFailure: (error) => {
      process.stderr.write(`altstream: the engine died: ${error.message}\n`);
      process.exit(exitCodes.engine);
    },
  }).catch((error: unknown) => {
    bars?.stop();
    throw error;
  });
  bars?.stop(true);
  const seconds = ((performance.now() - started) / 1000).toFixed(2);
  process.stderr.write(`Ready after ${seconds} s\n`);
  return { address: { baseUrl: local.baseUrl, apiKey: undefined }, close: () => local.close() };
}
