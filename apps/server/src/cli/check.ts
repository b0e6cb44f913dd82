import { statSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { checkCheckpoint } from '../check/check-checkpoint.js';
import { checkFiles } from '../check/check-files.js';
import { checkMemory, type MemoryPlan, type MemoryWish } from '../check/check-memory.js';
import { checkText } from '../check/check-text.js';
import { type Finding, findingTable } from '../check/finding.js';
import { printable } from '../client/printable.js';
import { resolveModelFolder } from '../config/model-folder.js';
import { demoModelFolder } from '../demo-model.js';
import { ExitError, exitCodes } from '../errors/index.js';
import { orExit } from './terminal/or-exit.js';

interface CheckFlags extends MemoryWish {
  readonly json?: boolean;
}

/** Everything that was found of a folder. */
interface FolderCheck {
  readonly folder: string;
  readonly isGood: boolean;
  readonly findings: readonly Finding[];
  readonly memory: MemoryPlan | null;
  readonly exitCode: number;
}

/** `altstream check`: whether a checkpoint is whole and would run here, without loading it. */
export function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('check a checkpoint folder, and whether it would fit this machine')
    .argument('[folder]', 'folder of the checkpoint (default: the demo model)')
    .addOption(
      new Option('--device <device>', 'auto, cpu or cuda:N').argParser(device).default('auto'),
    )
    .addOption(
      new Option('--dtype <dtype>', 'of activations and cache')
        .choices(['auto', 'bfloat16', 'float32'])
        .default('auto'),
    )
    .option('--json', 'print JSON')
    .action((folder: string | undefined, flags: CheckFlags) =>
      orExit(async () => {
        const check = await checkFolder(folder ?? demoModelFolder(), flags);
        const text = flags.json ? `${JSON.stringify(check, null, 2)}\n` : textOf(check);
        process.stdout.write(flags.json ? text : printable(text));
        process.exitCode = check.exitCode;
      }),
    );
}

async function checkFolder(path: string, wish: MemoryWish): Promise<FolderCheck> {
  const folder = resolveModelFolder(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const remedy = '`hf download MiniMaxAI/MiniMax-M3 --local-dir DIR` gets one';
    throw new ExitError('model', `the model folder ${path} does not exist; ${remedy}`);
  }
  const files = checkFiles(folder);
  const { findings, config, weights } = await checkCheckpoint(folder);
  const text = await checkText(folder, config?.vocabSize);
  const ofFolder = [...files, ...findings, ...text];
  const isWhole = ofFolder.every(({ isGood }) => isGood);
  const memory = config && weights ? await checkMemory(config, weights, wish) : undefined;
  const exitCode = isWhole ? (memory?.problem ? exitCodes[memory.problem] : 0) : exitCodes.model;
  return {
    folder,
    isGood: exitCode === 0,
    findings: [...ofFolder, ...(memory ? [memory.finding] : [])],
    memory: memory?.plan ?? null,
    exitCode,
  };
}

function textOf({ folder, findings, isGood }: FolderCheck): string {
  const verdict = isGood ? 'can be served' : 'cannot be served as it is';
  return `${folder}\n\n${findingTable(findings)}\n${verdict}\n`;
}

function device(text: string): string {
  if (/^(auto|cpu|cuda:\d+)$/.test(text)) return text;
  throw new InvalidArgumentError('Expected auto, cpu or cuda:N.');
}
