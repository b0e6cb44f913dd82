import { defineProject } from 'vitest/config';

export default defineProject({
  test: {
    name: 'registry',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    // `changeset publish` starts three processes a package: seconds on an idle machine.
    hookTimeout: 120_000,
  },
});
