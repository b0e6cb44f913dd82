import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suiteFolder } from '../../bundled-packages.js';

/**
 * Test files of the projects with suites for each backend, below `root`. Stress tests are left out: they
 * are about many operations, and under a sanitizer each takes a thousand times as long.
 */
export function parityFiles(root: string, projects: readonly string[]): readonly string[] {
  return projects.flatMap((project) => {
    const folder = join(suiteFolder(root, project), 'test');
    if (!existsSync(join(root, folder))) return [];
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.stress.test.ts'))
      .map((name) => join(folder, name))
      .filter((path) => /EachBackend\(/.test(readFileSync(join(root, path), 'utf8')))
      .sort();
  });
}
