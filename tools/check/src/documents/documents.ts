import { dirname, join, normalize } from 'node:path/posix';
import type { Finding, Tree } from '../finding.js';
import { exportedNames } from '../source.js';

const markdownLink = /\]\(([^)\s]+)\)/g;
const codePath = /`((?:packages|apps|tools)\/[A-Za-z0-9_./-]+\.[a-z0-9]+)`/g;

/** Links and paths in Markdown lead somewhere; a package's README names everything it exports. */
export function documents(tree: Tree): readonly Finding[] {
  const has = new Set(tree.files);
  const folders = new Set(tree.files.flatMap((path) => parents(path)));
  const exists = (path: string): boolean => has.has(path) || folders.has(path.replace(/\/$/, ''));
  const findings: Finding[] = [];
  for (const path of tree.files.filter(
    (file) => file.endsWith('.md') && !file.startsWith('.changeset/'),
  )) {
    const text = tree.text(path).replace(/```[\s\S]*?```/g, '');
    for (const [, target = ''] of text.matchAll(markdownLink)) {
      if (/^([a-z]+:|#)/.test(target)) continue;
      const file = normalize(join(dirname(path), target.split('#')[0] ?? ''));
      if (!exists(file)) findings.push(finding(path, `the link ${target} leads nowhere`));
    }
    for (const [, target = ''] of text.matchAll(codePath)) {
      if (!exists(target)) findings.push(finding(path, `\`${target}\` is no path of the tree`));
    }
  }
  return [...findings, ...readmeTables(tree)];
}

function readmeTables(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  const index = /^((?:packages|apps)\/[^/]+)\/src\/index\.ts$/;
  for (const path of tree.files) {
    const folder = index.exec(path)?.[1];
    if (folder === undefined || !tree.files.includes(`${folder}/README.md`)) continue;
    const readme = tree.text(`${folder}/README.md`);
    for (const name of exportedNames(path, tree.text(path))) {
      if (!new RegExp(`\`[^\`]*\\b${name}\\b[^\`]*\``).test(readme)) {
        findings.push(finding(`${folder}/README.md`, `the exported name \`${name}\` is not in it`));
      }
    }
  }
  return findings;
}

function parents(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function finding(at: string, message: string): Finding {
  return { check: 'documents', at, message };
}
