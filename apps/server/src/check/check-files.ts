import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../client/counted.js';
import { isLfsPointer } from '../config/model-folder.js';
import { type Finding, sizeText, someOf } from './finding.js';

const indexName = 'model.safetensors.index.json';
const singleName = 'model.safetensors';
const mostNamed = 8;

/**
 * Whether everything that serving needs lies in a folder: what is absent, and what is no file but a
 * pointer.
 */
export function checkFiles(folder: string): Finding[] {
  const found = [
    fileFinding(folder, 'config.json'),
    fileFinding(folder, 'tokenizer.json'),
    weightFinding(folder),
  ];
  const pointers = readdirSync(folder).filter((name) => isLfsPointer(join(folder, name)));
  if (pointers.length === 0) return found;
  const detail = `${someOf(pointers, mostNamed, ', ')}: a Git LFS pointer each, not the file; run \`git lfs pull\` there`;
  return [...found, { name: 'pointers', isGood: false, detail }];
}

function fileFinding(folder: string, name: string): Finding {
  const facts = statSync(join(folder, name), { throwIfNoEntry: false });
  if (facts?.isFile()) return { name, isGood: true, detail: sizeText(facts.size) };
  return { name, isGood: false, detail: 'absent; copy it from the checkpoint' };
}

function weightFinding(folder: string): Finding {
  const name = 'weight files';
  if (!existsSync(join(folder, indexName))) {
    const facts = statSync(join(folder, singleName), { throwIfNoEntry: false });
    if (facts) return { name, isGood: true, detail: `${singleName}, ${sizeText(facts.size)}` };
    const remedy = 'get them with `hf download MiniMaxAI/MiniMax-M3 --local-dir DIR`';
    return { name, isGood: false, detail: `neither ${indexName} nor ${singleName}; ${remedy}` };
  }
  try {
    return shardFinding(folder, name);
  } catch (error) {
    return { name, isGood: false, detail: `${indexName}: ${(error as Error).message}` };
  }
}

function shardFinding(folder: string, name: string): Finding {
  const index = JSON.parse(readFileSync(join(folder, indexName), 'utf8')) as {
    weight_map?: Record<string, unknown>;
    metadata?: { total_size?: unknown };
  };
  const shards = [...new Set(Object.values(index.weight_map ?? {}))].map(String).sort();
  const sizes = shards.map((shard) => sizeOf(join(folder, shard)));
  const missing = shards.filter((_, at) => sizes[at] === undefined);
  const present = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  if (missing.length === 0) {
    return {
      name,
      isGood: true,
      detail: `${counted(shards.length, 'shard')}, ${sizeText(present)}`,
    };
  }
  const total = Number(index.metadata?.total_size);
  const { bavail, bsize } = statfsSync(folder);
  const size = total > 0 ? `; ${sizeText(Math.max(0, total - present))} are to come` : '';
  const disk = `${sizeText(bavail * bsize)} of the disk are free`;
  const detail = `${missing.length} of ${shards.length} shards are absent${size}, ${disk}:\n${someOf(missing, mostNamed, '\n')}`;
  return { name, isGood: false, detail };
}

function sizeOf(path: string): number | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts?.isFile() ? facts.size : undefined;
}
