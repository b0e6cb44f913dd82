import { chmodSync, lstatSync, type Stats, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ExitError } from '../errors/index.js';

/** Linux has room for 107 bytes and the end; Node would cut a longer one off. */
const mostPathBytes = 107;
/** Owner and group may connect, which takes the right to write. */
const mode = 0o660;
/** What a live server's queue may take to let a connection in. */
const answersWithinMs = 2000;

/**
 * Listens on a Unix socket that owner and group may open. A socket that a server left behind is
 * replaced; one on which somebody listens never is, nor a file of another kind.
 *
 * @throws ExitError usage: the path is too long; port: it is taken, or cannot be made
 */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > mostPathBytes) {
    const problem = `--uds ${path} has ${bytes} bytes, a socket's path at most ${mostPathBytes}`;
    throw new ExitError('usage', problem);
  }
  await removeStale(path);
  // From the first moment nobody else may open it, whatever the umask was. It holds for the whole
  // process meanwhile, so folders that another thread makes keep the right to be entered.
  const umask = process.umask(0o007);
  try {
    await app.listen({ path });
    chmodSync(path, mode);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw isTaken(path, cause);
    throw new ExitError('port', `cannot listen on --uds ${path}: ${message}`, { cause });
  } finally {
    process.umask(umask);
  }
}

async function removeStale(path: string): Promise<void> {
  const found = look(path);
  if (!found) return;
  if (!found.isSocket()) {
    const problem = `--uds ${path} is there and is no socket; name another path, or remove it`;
    throw new ExitError('port', problem);
  }
  if (await isLive(path)) throw isTaken(path);
  // Another server may have replaced it meanwhile.
  const now = look(path);
  if (now && now.ino === found.ino && now.dev === found.dev) unlinkSync(path);
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Only a refused connection proves that nobody listens; whatever else goes wrong does not. */
function isLive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (isTaken: boolean): void => {
      socket.destroy();
      resolve(isTaken);
    };
    socket.setTimeout(answersWithinMs, () => answer(true));
    socket.once('connect', () => answer(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => answer(code !== 'ECONNREFUSED'));
  });
}

function isTaken(path: string, cause?: unknown): ExitError {
  const remedy = 'stop the other program, or name another path';
  return new ExitError('port', `--uds ${path} is in use; ${remedy}`, { cause });
}
