import { defineProject } from 'vitest/config';

export default defineProject({
  ssr: {
    resolve: { conditions: ['@altstream/source', 'module', 'node', 'import', 'default'] },
  },
  test: {
    name: 'gpu-bundle',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
