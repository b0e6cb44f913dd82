import { shipsDataOnly } from './data-packages.js';
import type { Finding, Tree } from './finding.js';

const rootEntries = new Set([
  '.changeset',
  '.ci',
  '.clang-format',
  '.editorconfig',
  '.gitattributes',
  '.gitignore',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'apps',
  'biome.json',
  'knip.json',
  'package.json',
  'packages',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'tools',
  'tsconfig.base.json',
  'turbo.json',
  'vitest.config.ts',
]);
const toolFolders = new Set([
  'bench',
  'check',
  'demo-model',
  'gpu-bundle',
  'hash-checkpoint',
  'registry',
  'setup',
]);
const vagueNames = /(^|\/)(utils?|common|misc|types|helpers?|lib|shared)(\.[a-z]+|\/)/;
const mostIdeasInAFolder = 15;

/** Everything lies where DESIGN §7 puts it, and a package has what every package has. */
export function layout(tree: Tree): readonly Finding[] {
  const findings: Finding[] = [];
  for (const entry of new Set(tree.files.map((path) => path.split('/')[0] ?? ''))) {
    if (!rootEntries.has(entry)) findings.push(finding(entry, 'not an entry of the top level'));
  }
  for (const path of tree.files) {
    const [top, name] = path.split('/');
    if (top === 'tools' && name && !toolFolders.has(name)) {
      findings.push(finding(path, 'not a folder of tools/'));
    }
    if (vagueNames.test(path)) findings.push(finding(path, 'a name whose idea was not found yet'));
    if (path.endsWith('binding.gyp'))
      findings.push(finding(path, 'npm would build this by itself'));
  }
  return [...findings, ...packages(tree), ...folders(tree), ...indexFiles(tree)];
}

function packages(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  const has = new Set(tree.files);
  for (const path of tree.files.filter((file) =>
    /^(packages|apps)\/[^/]+\/package\.json$/.test(file),
  )) {
    const folder = path.slice(0, -'/package.json'.length);
    const manifest = JSON.parse(tree.text(path)) as Record<string, unknown>;
    const scripts = (manifest['scripts'] ?? {}) as Record<string, string>;
    for (const script of ['install', 'preinstall', 'postinstall', 'prepare']) {
      if (script in scripts)
        findings.push(finding(path, `no ${script} script: nothing runs at install`));
    }
    // Binaries and weights: nothing to build or to test by themselves.
    const wanted =
      folder.endsWith('-linux-x64') || shipsDataOnly(tree, folder)
        ? ['README.md']
        : ['README.md', 'tsconfig.json', 'tsup.config.ts', 'vitest.config.ts', 'src/index.ts'];
    for (const file of wanted) {
      if (!has.has(`${folder}/${file}`)) findings.push(finding(folder, `${file} is missing`));
    }
    if (has.has(`${folder}/CMakeLists.txt`) && !('binary' in manifest)) {
      findings.push(
        finding(
          path,
          '"binary": { "napi_versions": [8] } is missing: cmake-js would download headers',
        ),
      );
    }
  }
  return findings;
}

/**
 * An idea is a stem: `topk.ts`, `topk.plan.ts` and `topk.test.ts` are one, and so are the
 * instruction sets of a kernel. Folders of errors are left out: there one class a file is the rule.
 */
function folders(tree: Tree): Finding[] {
  const ideas = new Map<string, Set<string>>();
  const counted = tree.files.filter(
    (file) => !/fixtures|bench\/results|\.changeset|\/errors\//.test(file),
  );
  for (const path of counted) {
    const slash = path.lastIndexOf('/');
    const folder = path.slice(0, slash);
    const name = path.slice(slash + 1).split('.')[0] ?? '';
    const stem = name.replace(/_(avx2|avx512|amx)$/, '');
    ideas.set(folder, (ideas.get(folder) ?? new Set()).add(stem));
  }
  return [...ideas]
    .filter(([folder, stems]) => folder !== '' && stems.size > mostIdeasInAFolder)
    .map(([folder, stems]) =>
      finding(folder, `${stems.size} ideas in one folder, at most ${mostIdeasInAFolder}`),
    );
}

function indexFiles(tree: Tree): Finding[] {
  const allowed = /^(packages|apps|tools)\/[^/]+\/src\/(index|errors\/index|testing\/index)\.ts$/;
  return tree.files
    .filter((path) => path.endsWith('/index.ts') && path.includes('/src/') && !allowed.test(path))
    .map((path) => finding(path, 'index files stand at the root of a package and in errors/ only'));
}

function finding(at: string, message: string): Finding {
  return { check: 'layout', at, message };
}
