import { defineProject } from 'vitest/config';

export default defineProject({
  test: { name: 'check', include: ['test/**/*.test.ts'], testTimeout: 90_000 },
});
