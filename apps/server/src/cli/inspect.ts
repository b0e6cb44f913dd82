import { Checkpoint, readModelConfig } from '@altstream/minimax-m3-model';
import type { Command } from 'commander';
import { checkModelFolder } from '../config/model-folder.js';
import { ExitError } from '../errors/index.js';
import { orExit } from './or-exit.js';

/** What a checkpoint is, from its headers alone. */
interface Inspection {
  readonly modelType: string;
  readonly layers: number;
  readonly layerKinds: Readonly<Record<string, number>>;
  readonly hidden: number;
  readonly heads: string;
  readonly experts: string;
  readonly vocabSize: number;
  readonly maxPositions: number;
  readonly files: number;
  readonly tensors: number;
  readonly bytes: number;
  readonly bytesByType: Readonly<Record<string, number>>;
}

/** `altstream inspect`: the facts of a checkpoint, without loading it. */
export function addInspectCommand(program: Command): void {
  program
    .command('inspect')
    .description('show what a checkpoint folder holds, without loading it')
    .argument('<model>', 'folder of the checkpoint')
    .option('--json', 'print JSON')
    .action((model: string, { json }: { json?: boolean }) =>
      orExit(async () => {
        const facts = await inspect(checkModelFolder(model));
        process.stdout.write(json ? `${JSON.stringify(facts, null, 2)}\n` : table(facts));
      }),
    );
}

async function inspect(folder: string): Promise<Inspection> {
  try {
    const config = await readModelConfig(folder);
    const checkpoint = await Checkpoint.open(folder);
    try {
      const tensors = [...checkpoint.tensors.values()];
      const bytesByType: Record<string, number> = {};
      for (const { dtype, bytes } of tensors) {
        bytesByType[dtype] = (bytesByType[dtype] ?? 0) + bytes;
      }
      const kinds = config.layers.map(({ attention, mlp }) => `${attention} attention + ${mlp}`);
      const { moe } = config;
      return {
        modelType: config.modelType,
        layers: config.layers.length,
        layerKinds: countOf(kinds),
        hidden: config.hidden,
        heads: `${config.heads} query, ${config.kvHeads} key/value, ${config.headDim} wide`,
        experts: moe ? `${moe.experts} routed, ${moe.expertsPerToken} a token` : 'none',
        vocabSize: config.vocabSize,
        maxPositions: config.maxPositions,
        files: checkpoint.files.length,
        tensors: tensors.length,
        bytes: tensors.reduce((sum, { bytes }) => sum + bytes, 0),
        bytesByType,
      };
    } finally {
      await checkpoint.close();
    }
  } catch (cause) {
    throw new ExitError('model', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function countOf(kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function table(facts: Inspection): string {
  const show = (value: unknown): string =>
    typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([key, count]) => `${key}: ${String(count)}`)
          .join(', ')
      : String(value);
  const width = Math.max(...Object.keys(facts).map((key) => key.length));
  return Object.entries(facts)
    .map(([key, value]) => `${key.padEnd(width)}  ${show(value)}\n`)
    .join('');
}
