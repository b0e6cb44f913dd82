import { defineProject } from 'vitest/config';

export default defineProject({ test: { name: 'setup', include: ['*.test.ts'] } });
