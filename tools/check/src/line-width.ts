import type { Finding, Tree } from './finding.js';
import { isFixture } from './source.js';

const mostColumns = 100;
const isCode = (path: string): boolean => /\.(ts|mts|mjs|cpp|cu|cuh|h)$/.test(path);
/** A line of nothing but comment: the formatter, which breaks all others, leaves it as it is. */
const comment = /^\s*(?:\/\/|\/\*|\*(?!\/)|\*\/)/;
/** A kernel of a manifest, which is one line. */
const kernel = /^\/\* kernel /;
/** One word, such as an address, that no line could hold. */
const unbreakable = /^\s*(?:\/\/|\/\*\*?|\*)?\s*\S+(?:\s*\*\/)?$/;

/** Comments are no wider than code. */
export function lineWidth(tree: Tree): readonly Finding[] {
  return tree.files
    .filter((path) => isCode(path) && !isFixture(path))
    .flatMap((path) =>
      tree
        .text(path)
        .split('\n')
        .flatMap((line, at): Finding[] => {
          const { length } = line;
          const isText = comment.test(line) && !kernel.test(line) && !unbreakable.test(line);
          if (length <= mostColumns || !isText) return [];
          const message = `a comment of ${length} columns, at most ${mostColumns}`;
          return [{ check: 'line-width', at: `${path}:${at + 1}`, message }];
        }),
    );
}
