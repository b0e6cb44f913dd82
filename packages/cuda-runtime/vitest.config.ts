import { defineProject } from 'vitest/config';

export default defineProject({
  ssr: {
    resolve: { conditions: ['@altstream/source', 'module', 'node', 'import', 'default'] },
  },
  test: {
    name: 'cuda-runtime',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    execArgv: ['--expose-gc'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
