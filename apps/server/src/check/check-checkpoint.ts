import {
  Checkpoint,
  checkWeights,
  type ModelConfig,
  readModelConfig,
  type WeightCheck,
} from '@altstream/minimax-m3-model';
import { counted } from '../client/counted.js';
import { type Finding, sizeText, someOf } from './finding.js';

/** What a checkpoint is, as far as it can be read. */
export interface CheckpointCheck {
  readonly findings: readonly Finding[];
  readonly config: ModelConfig | undefined;
  readonly weights: WeightCheck | undefined;
}

const mostNamed = 8;

/**
 * Reads the config and the headers of all files; names, types and shapes of every weight are
 * compared.
 */
export async function checkCheckpoint(folder: string): Promise<CheckpointCheck> {
  const findings: Finding[] = [];
  const config = await noted(findings, 'config', async () => {
    const read = await readModelConfig(folder);
    const { layers, hidden, maxPositions, moe } = read;
    const experts = moe ? `, ${moe.experts} experts` : '';
    const detail = `${counted(layers.length, 'layer')}, ${hidden} wide${experts}, ${maxPositions} positions`;
    return { value: read, detail };
  });
  const weights = await noted(findings, 'headers', async () => {
    const checkpoint = await Checkpoint.open(folder);
    try {
      const { tensors, files } = checkpoint;
      const detail = `${counted(tensors.size, 'tensor')} in ${counted(files.length, 'file')}, all where the headers say`;
      return { value: config && checkWeights(checkpoint, config), detail };
    } finally {
      await checkpoint.close();
    }
  });
  if (weights) findings.push(weightFinding(weights));
  return { findings, config, weights };
}

/** Runs one look; what it throws is a finding. */
async function noted<T>(
  findings: Finding[],
  name: string,
  look: () => Promise<{ value: T; detail: string }>,
): Promise<T | undefined> {
  try {
    const { value, detail } = await look();
    findings.push({ name, isGood: true, detail });
    return value;
  } catch (error) {
    findings.push({ name, isGood: false, detail: (error as Error).message });
    return undefined;
  }
}

function weightFinding({ problems, wanted, used, leftOut, unused }: WeightCheck): Finding {
  const name = 'weights';
  if (problems.length > 0) {
    const detail = `${problems.length} of ${wanted} are missing or wrong:\n${someOf(problems, mostNamed, '\n')}`;
    return { name, isGood: false, detail };
  }
  const others = [
    leftOut.tensors > 0 && `${leftOut.tensors} tensors of vision and prediction are left out`,
    unused.length > 0 && `nothing uses ${someOf(unused, mostNamed, ', ')}`,
  ].filter(Boolean);
  const detail = [`all ${wanted}, ${sizeText(used.bytes)}`, ...others].join('; ');
  return { name, isGood: true, detail };
}
