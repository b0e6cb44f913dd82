import { Checkpoint, type ModelConfig, readModelConfig } from '@altstream/minimax-m3-model';
import type { Command } from 'commander';
import { sizeText } from '../check/finding.js';
import { counted } from '../client/counted.js';
import { checkModelFolder } from '../config/model-folder.js';
import { ExitError } from '../errors/index.js';
import { orExit } from './terminal/or-exit.js';

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
  /** Keys, values and index keys of one token over all layers, with bf16 activations. */
  readonly cacheBytesPerToken: number;
  readonly files: number;
  readonly tensors: number;
  /** Numbers in all tensors; the scales of quantised weights count too. */
  readonly parameters: number;
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
        const facts = await inspect(
          checkModelFolder(model, { folderName: 'altstream inspect DIR' }),
        );
        process.stdout.write(json ? `${JSON.stringify(facts, null, 2)}\n` : inspectionTable(facts));
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
        cacheBytesPerToken: cacheBytesPerToken(config),
        files: checkpoint.files.length,
        tensors: tensors.length,
        parameters: tensors.reduce((sum, { shape }) => sum + elementsOf(shape), 0),
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

function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

const bf16Bytes = 2;

function cacheBytesPerToken({ layers, kvHeads, headDim, sparse }: ModelConfig): number {
  const keysAndValues = 2 * kvHeads * headDim;
  const indexKeys = (attention: string): number =>
    attention === 'sparse' ? (sparse?.indexDim ?? 0) : 0;
  const values = layers.reduce((sum, layer) => sum + keysAndValues + indexKeys(layer.attention), 0);
  return values * bf16Bytes;
}

/** One fact a line, with sizes that a person can read. */
function inspectionTable(facts: Inspection): string {
  const lines: [name: string, value: string][] = [
    ['model type', facts.modelType],
    ['layers', `${facts.layers} (${joined(facts.layerKinds, String)})`],
    ['hidden', String(facts.hidden)],
    ['heads', facts.heads],
    ['experts', facts.experts],
    ['vocabulary', facts.vocabSize.toLocaleString('en')],
    ['context', `${facts.maxPositions.toLocaleString('en')} tokens`],
    ['KV cache', `${sizeText(facts.cacheBytesPerToken)} a token in bf16`],
    [
      'weights',
      `${sizeText(facts.bytes)}, ${counted(facts.tensors, 'tensor')}, files: ${facts.files}`,
    ],
    ['parameters', facts.parameters.toLocaleString('en')],
    ['by type', joined(facts.bytesByType, sizeText)],
  ];
  return lines.map(([name, value]) => `${name.padEnd(12)}${value}\n`).join('');
}

function joined(counts: Readonly<Record<string, number>>, show: (value: number) => string): string {
  return Object.entries(counts)
    .map(([key, value]) => `${key}: ${show(value)}`)
    .join(', ');
}
