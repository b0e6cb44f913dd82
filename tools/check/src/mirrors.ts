import type { Finding, Tree } from './finding.js';

const kernelPackages = ['dense-kernels', 'attention-kernels', 'moe-kernels'];

/** A kernel's files mirror each other: one stem from the header to the docs (style 9). */
export function mirrors(tree: Tree): readonly Finding[] {
  return kernelPackages.flatMap((name) => packageMirrors(tree, name));
}

function packageMirrors(tree: Tree, name: string): Finding[] {
  const folder = `packages/${name}`;
  const snake = name.replaceAll('-', '_');
  const has = new Set(tree.files);
  const headers = tree.files.filter(
    (path) =>
      path.startsWith(`${folder}/native/include/${snake}/`) &&
      path.endsWith('.h') &&
      /^\/\* kernel /m.test(tree.text(path)),
  );
  const hasCuda = tree.files.some((path) => path.startsWith(`${folder}/native/cuda/`));
  const findings: Finding[] = [];
  const operations = new Set<string>();
  for (const header of headers) {
    const stem = header.slice(header.lastIndexOf('/') + 1, -2);
    operations.add(stem);
    for (const file of mirrorFiles(stem, hasCuda)) {
      if (!has.has(`${folder}/${file}`))
        findings.push(finding(header, `its mirror ${file} is missing`));
    }
  }
  for (const path of tree.files) {
    const cpu = new RegExp(`^${folder}/native/cpu/([a-z0-9_]+)\\.cpp$`).exec(path)?.[1];
    const stem = cpu?.replace(/_(avx2|avx512|amx)$/, '');
    if (stem && !operations.has(stem)) {
      findings.push(
        finding(path, `no header native/include/${snake}/${stem}.h declares a kernel for it`),
      );
    }
  }
  return findings;
}

function mirrorFiles(stem: string, hasCuda: boolean): string[] {
  const kebab = stem.replaceAll('_', '-');
  return [
    `src/${kebab}.ts`,
    `src/${kebab}.plan.ts`,
    `src/${kebab}.test.ts`,
    `native/cpu/${stem}.cpp`,
    ...(hasCuda ? [`native/cuda/${stem}.cu`] : []),
    `test/cases/${kebab}.ts`,
    `test/reference/${kebab}.ts`,
    `test/${kebab}.parity.test.ts`,
    `bench/${kebab}.bench.ts`,
    `docs/${kebab}.md`,
  ];
}

function finding(at: string, message: string): Finding {
  return { check: 'mirrors', at, message };
}
