import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStressTest, testFiles } from '../test-files.js';

/**
 * Test files of the projects with suites for each backend, below `root`. Stress tests are left out:
 * they are about many operations, and under a sanitizer each takes a thousand times as long.
 */
export function parityFiles(root: string, projects: readonly string[]): readonly string[] {
  return testFiles(root, projects)
    .filter((file) => !isStressTest(file))
    .filter((file) => /EachBackend\(/.test(readFileSync(join(root, file), 'utf8')));
}
