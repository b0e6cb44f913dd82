import type { Tree } from '../finding.js';

/** A program in a README that the tests run. */
export interface ReadmeExample {
  /** Folder of the README; the program runs there. */
  readonly folder: string;
  /** Counts the examples of one README, from 1. */
  readonly number: number;
  readonly code: string;
  /** Lines that its output must contain, from the `text` block behind it; none = any output. */
  readonly output: readonly string[];
}

const example =
  /<!-- run -->\s*```ts\n([\s\S]*?)```(?:\s*<!-- prints -->\s*```text\n([\s\S]*?)```)?/g;

/** Finds the programs marked `<!-- run -->`, each with the output that it promises. */
export function readmeExamples(tree: Tree): readonly ReadmeExample[] {
  return tree.files
    .filter((path) => /^(packages|apps)\/[^/]+\/README\.md$/.test(path))
    .flatMap((path) =>
      [...tree.text(path).matchAll(example)].map(([, code = '', output = ''], index) => ({
        folder: path.slice(0, -'/README.md'.length),
        number: index + 1,
        code,
        output: output.split('\n').filter((line) => line.trim() !== ''),
      })),
    );
}
