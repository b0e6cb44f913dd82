import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineProject } from 'vitest/config';

export default defineProject({
  ssr: {
    // As Node finds packages: `module` is for bundlers, whose files Node cannot always load.
    resolve: { conditions: ['@altstream/source', 'node', 'import', 'default'] },
  },
  test: {
    name: 'server',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    execArgv: ['--expose-gc'],
    env: { TMPDIR: join(tmpdir(), `altstream-tests-${process.pid}`) },
    globalSetup: './test/crash/run-folder.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // Its tests wait for processes more than they compute: a file a core, when all others are done.
    maxWorkers: '100%',
    sequence: { groupOrder: 2 },
  },
});
