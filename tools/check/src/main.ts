// `pnpm check`: the structure checks, then format, lint, types, unused code and package hygiene.
// `pnpm check --structure` runs the first part only (a second instead of a minute).

import { fileURLToPath } from 'node:url';
import { arrows } from './arrows.js';
import { changesets } from './changesets.js';
import { dataPackages } from './data-packages.js';
import { conformance } from './documents/conformance.js';
import { documents } from './documents/documents.js';
import { exportedDocs } from './exported-docs.js';
import { external } from './external.js';
import type { Check } from './finding.js';
import { hygiene } from './hygiene.js';
import { layout } from './layout.js';
import { lineWidth } from './line-width.js';
import { mirrors } from './mirrors.js';
import { sizeSummary, sizes } from './sizes.js';
import { readTree } from './tree.js';

const checks: readonly Check[] = [
  layout,
  mirrors,
  arrows,
  sizes,
  dataPackages,
  documents,
  exportedDocs,
  hygiene,
  lineWidth,
  changesets,
  conformance,
];

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tree = readTree(root);
const findings = checks.flatMap((check) => check(tree));
if (!process.argv.includes('--structure')) findings.push(...external(root));
for (const { check, at, message } of findings)
  process.stdout.write(`${check}: ${at}: ${message}\n`);
process.stdout.write(`${sizeSummary(tree)}\n`);
process.stdout.write(`check: ${findings.length} findings in ${tree.files.length} files\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
