import { dirname, join, normalize } from 'node:path/posix';
import type { Finding, Tree } from './finding.js';
import { importsOf, isTest, isTypeScript } from './source.js';

const scope = '@altstream/';

/** Which packages each package's sources may import (DESIGN §2). Tests may import more. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'cuda-runtime': [],
  'dense-kernels': ['cuda-runtime'],
  'attention-kernels': ['cuda-runtime', 'dense-kernels'],
  'moe-kernels': ['cuda-runtime', 'dense-kernels'],
  'minimax-m3-model': ['cuda-runtime', 'dense-kernels', 'attention-kernels', 'moe-kernels'],
  'minimax-m3-chat': [],
  engine: ['cuda-runtime', 'dense-kernels'],
  server: ['cuda-runtime', 'engine', 'minimax-m3-chat', 'minimax-m3-model'],
};

/**
 * Imports go down the picture of DESIGN §2, never up, sideways, deep, out of a package or in a
 * circle.
 */
export function arrows(tree: Tree): readonly Finding[] {
  const sources = tree.files.filter(
    (path) => isTypeScript(path) && /^(packages|apps)\/[^/]+\/src\//.test(path),
  );
  const findings: Finding[] = [];
  const graph = new Map<string, string[]>();
  for (const path of sources) {
    const targets: string[] = [];
    for (const { specifier, line } of importsOf(path, tree.text(path))) {
      const at = `${path}:${line}`;
      if (specifier.startsWith('.')) {
        const target = localTarget(tree, path, specifier);
        if (target === undefined)
          findings.push(finding(at, `"${specifier}" is no file of the tree`));
        else if (packageOf(target) !== packageOf(path)) {
          findings.push(finding(at, `"${specifier}" leaves the package; import it by name`));
        } else targets.push(target);
      } else if (!isTest(path)) findings.push(...packageArrow(path, at, specifier));
    }
    if (!isTest(path)) graph.set(path, targets);
  }
  return [...findings, ...planPurity(tree, sources), ...cycles(graph), ...nativeArrows(tree)];
}

function packageArrow(path: string, at: string, specifier: string): Finding[] {
  if (!specifier.startsWith(scope)) return [];
  const [target = '', ...rest] = specifier.slice(scope.length).split('/');
  const from = packageOf(path);
  const inTestingRoom = path.includes('/src/testing/');
  if (rest.length > 0 && !inTestingRoom && !isTest(path)) {
    return [finding(at, `"${specifier}" is a deep import; use the root entry`)];
  }
  if (mayImport[from]?.includes(target)) return [];
  return [finding(at, `${from} may not import ${target} (DESIGN §2)`)];
}

/** A plan decides from shapes and limits alone. */
function planPurity(tree: Tree, sources: readonly string[]): Finding[] {
  return sources
    .filter((path) => path.endsWith('.plan.ts'))
    .flatMap((path) => [
      ...(/\bprocess\./.test(tree.text(path))
        ? [finding(path, 'a plan reads no environment')]
        : []),
      ...importsOf(path, tree.text(path))
        .filter(({ specifier, isTypeOnly }) => !isTypeOnly && !isPure(specifier))
        .map(({ specifier, line }) =>
          finding(`${path}:${line}`, `a plan may not import "${specifier}"`),
        ),
    ]);
}

/** Other plans and constants are pure; streams, modules and packages are not. */
function isPure(specifier: string): boolean {
  return specifier.startsWith('.') && !/stream|module|load|environment/.test(specifier);
}

/** Circles among files, each reported once by its first file in sorted order. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): Finding[] {
  const findings: Finding[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    state.set(path, 'open');
    trail.push(path);
    for (const target of graph.get(path) ?? []) {
      if (state.get(target) === 'open') {
        const circle = [...trail.slice(trail.indexOf(target)), target];
        findings.push(finding(path, `import circle: ${circle.join(' → ')}`));
      } else if (!state.has(target)) visit(target);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const path of graph.keys()) if (!state.has(path)) visit(path);
  return findings;
}

/** Node's and CUDA's headers stay in the one folder that may see them. */
function nativeArrows(tree: Tree): Finding[] {
  const rules = [
    { header: /#include\s*[<"]napi\.h/, folder: 'packages/cuda-runtime/native/napi/' },
    {
      header: /#include\s*[<"]cuda_runtime(_api)?\.h/,
      folder: 'packages/cuda-runtime/native/cuda/',
    },
  ];
  return tree.files
    .filter((path) => /\.(cpp|cu|cuh|h)$/.test(path) && !path.includes('/test/'))
    .flatMap((path) =>
      rules
        .filter(({ header, folder }) => header.test(tree.text(path)) && !path.startsWith(folder))
        .map(({ folder }) => finding(path, `includes a header that belongs to ${folder} only`)),
    );
}

function localTarget(tree: Tree, from: string, specifier: string): string | undefined {
  const base = normalize(join(dirname(from), specifier));
  const candidates = [base.replace(/\.js$/, '.ts'), base.replace(/\.js$/, '.tsx'), base];
  return candidates.find((candidate) => tree.files.includes(candidate));
}

function packageOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function finding(at: string, message: string): Finding {
  return { check: 'arrows', at, message };
}
