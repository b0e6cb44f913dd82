/** Something that must be mended before the tree is clean. */
export interface Finding {
  /** Name of the check, such as `sizes`. */
  readonly check: string;
  /** Path from the repository's root, with `:line` where it helps. */
  readonly at: string;
  /** What is wrong and what would be right. */
  readonly message: string;
}

/** A structure check: looks at the tree, returns what it found. */
export type Check = (tree: Tree) => readonly Finding[];

/** The files that git tracks or would track, with their text. */
export interface Tree {
  readonly root: string;
  /** Paths from the root, sorted. */
  readonly files: readonly string[];
  /** Text of a file; an error names a file that is not in the tree. */
  text(path: string): string;
  /** Size of a file. */
  bytes(path: string): number;
}
