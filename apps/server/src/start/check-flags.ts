import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolderOf, makeOutputFolder } from '../config/output-folder.js';
import type { ServeFlags } from '../config/serve-flags.js';
import { ExitError } from '../errors/index.js';
import type { EngineInfo } from '../worker/messages.js';
import { deviceOf } from './device.js';

/**
 * What is missing, or cannot be together, is told before anything is loaded. @throws ExitError
 * (usage)
 */
export function checkFlags(flags: ServeFlags): void {
  deviceOf(flags);
  if (flags.chatTemplate !== undefined && !existsSync(flags.chatTemplate)) {
    throw new ExitError('usage', `--chat-template ${flags.chatTemplate} does not exist`);
  }
  if (flags.strictTools && flags.grammarBackend === 'none') {
    const remedy = 'leave one out: arguments are held to their schemas by grammars';
    throw new ExitError('usage', `--strict-tools and --grammar-backend none: ${remedy}`);
  }
  if (flags.uds !== undefined && flags.sslCertfile !== undefined) {
    const remedy = 'leave one out: what stands in front of a socket speaks TLS itself';
    throw new ExitError('usage', `--uds and --ssl-certfile do not go together; ${remedy}`);
  }
  makeFolders(flags);
}

/** Where files are written. Who may enter the folder of a socket is for whoever makes it. */
function makeFolders({ uds, profileDir, crashDir, recordTrace }: ServeFlags): void {
  if (uds !== undefined && !existsSync(dirname(uds))) {
    throw new ExitError(
      'usage',
      `the folder ${dirname(uds)} of --uds does not exist; make it first`,
    );
  }
  if (profileDir !== undefined) makeOutputFolder(profileDir, `--profile-dir ${profileDir}`);
  if (crashDir !== undefined) makeOutputFolder(crashDir, `--crash-dir ${crashDir}`);
  if (recordTrace !== undefined) makeFolderOf(recordTrace, `--record-trace ${recordTrace}`);
}

/** Pages are as long as the blocks of the model's sparse attention. @throws ExitError (usage) */
export function checkBlockSize(
  { blockSize }: Pick<ServeFlags, 'blockSize'>,
  { pageTokens }: Pick<EngineInfo, 'pageTokens'>,
): void {
  if (blockSize === undefined || blockSize === pageTokens) return;
  const problem = `--block-size ${blockSize}: pages of this model have ${pageTokens} tokens`;
  throw new ExitError('usage', `${problem}; leave it out, or pass ${pageTokens}`);
}
