import { defineProject } from 'vitest/config';

export default defineProject({
  ssr: {
    resolve: { conditions: ['@altstream/source', 'module', 'node', 'import', 'default'] },
  },
  test: {
    name: 'minimax-m3-model',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    execArgv: ['--expose-gc'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // References in float64 take one core each, and nothing here is judged by time: a file a core,
    // when the packages that must run alone are done.
    maxWorkers: '100%',
    sequence: { groupOrder: 1 },
  },
});
