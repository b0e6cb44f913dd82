import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { onEachBackend } from '../../src/testing/on-each-backend.js';

const run = promisify(execFile);
const exits = new URL('../fixtures/threads/exits/', import.meta.url);
// glibc's own checks of every block that is freed.
const checker = '/lib/x86_64-linux-gnu/libc_malloc_debug.so.0';

onEachBackend((backend) => {
  /** Runs a program in a process of its own: what it wrote, after it ended with code 0. */
  const outputOf = async (program: string, argument = '', environment: NodeJS.ProcessEnv = {}) => {
    const typescript = ['--import', 'tsx', '--conditions=@altstream/source'];
    const { stdout, stderr } = await run(
      process.execPath,
      [
        ...(program.endsWith('.ts') ? typescript : []),
        fileURLToPath(new URL(program, exits)),
        backend,
        argument,
      ],
      { timeout: 40_000, env: { ...process.env, ...environment } },
    );
    return `${stdout}${stderr}`;
  };

  test.concurrent.each(['exit', 'end', 'promise'])(
    '#42, L17: a process that leaves everything undisposed ends without a word: %s',
    async (ending) => expect(await outputOf('undisposed.ts', ending)).toBe(''),
  );

  test.concurrent('#47: the addon is loaded by threads only, which end with work pending', async () => {
    expect(await outputOf('only-in-threads.cjs')).toBe('');
  });

  test.concurrent('#49: process.exit() within a callback of notify', async () => {
    expect(await outputOf('in-notify.ts')).toBe('');
  });

  test.concurrent('#51: a process with an unused runtime open ends by itself', async () => {
    expect(await outputOf('unused.ts')).toBe('');
  });

  test.concurrent('#52: nothing is freed twice at the end', async ({ skip }) => {
    if (!existsSync(checker)) return skip(`no ${checker}`);
    const environment = { LD_PRELOAD: checker, MALLOC_CHECK_: '3', MALLOC_PERTURB_: '165' };
    expect(await outputOf('only-in-threads.cjs', '', environment)).toBe('');
    expect(await outputOf('undisposed.ts', 'exit', environment)).toBe('');
  });
});
