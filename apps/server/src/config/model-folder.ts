import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { builtInConfig, builtInModels } from '@altstream/minimax-m3-model';
import { demoModelFolder } from '../demo-model.js';
import { ExitError } from '../errors/index.js';
import type { GenerationDefaults } from '../generation/sampling.js';
import { readEnvironment } from './environment.js';
import { hubSnapshot, isHubId } from './hub-snapshot.js';
import type { ServeFlags } from './serve-flags.js';

/** What of the flags names a model. */
export type ModelFlags = Pick<ServeFlags, 'model' | 'loadFormat' | 'tokenizer'>;

/** Where a model and what goes with it are found. */
export interface ModelPlace {
  /** Checkpoint folder, or a built-in name. */
  readonly model: string;
  /** Name that it is served under unless another is given. */
  readonly name: string;
  /** Folder of tokenizer and chat template. */
  readonly tokenizer: string;
  /** Folder that may have a `generation_config.json`; undefined for a built-in name. */
  readonly folder: string | undefined;
}

/**
 * Finds the model that the flags name, else the demo model; an error lists what is absent.
 *
 * @param folderName what the command calls the folder
 */
export function findModel(
  { loadFormat, tokenizer, model = demoModelFolder() }: ModelFlags,
  folderName?: string,
): ModelPlace {
  const isDummy = loadFormat === 'dummy';
  const given = tokenizer === undefined ? undefined : checkTokenizer(tokenizer);
  if (isDummy && builtInConfig(model) && !isFolder(model)) {
    const remedy = 'pass --tokenizer DIR, a folder with a tokenizer.json';
    if (!given) throw new ExitError('usage', `${model} is a config without a tokenizer; ${remedy}`);
    return { model, name: basename(model), tokenizer: given, folder: undefined };
  }
  const hasTokenizer = given !== undefined;
  const folder = checkModelFolder(model, { isDummy, hasTokenizer, folderName });
  const name = isFolder(model) ? basename(folder) : model;
  return { model: folder, name, tokenizer: given ?? folder, folder };
}

/** Where the texts of a mock engine are from: it needs a tokenizer, and no weights. */
export function findMockTexts({ tokenizer, model }: ModelFlags): ModelPlace {
  const folder = checkTokenizer(tokenizer ?? model ?? demoModelFolder());
  return { model: 'mock', name: 'mock', tokenizer: folder, folder };
}

/** Folder of tokenizer and template: of that model, else of the demo model. */
export function findTexts(model = demoModelFolder()): string {
  const folder = resolveModelFolder(model);
  if (!isFolder(folder)) throw absent(model);
  return checkTokenizer(folder, `--model ${model}`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function checkTokenizer(path: string, named = `--tokenizer ${path}`): string {
  const folder = resolve(path);
  if (existsSync(join(folder, 'tokenizer.json'))) return folder;
  throw new ExitError('model', `${named}: there is no tokenizer.json in that folder`);
}

/** The folder that a path or a name of the hub stands for; a folder that is there comes first. */
export function resolveModelFolder(path: string): string {
  const folder = isFolder(path) ? path : (hubSnapshot(path) ?? path);
  return resolve(folder);
}

/** What a folder must have, and how it is named. */
export interface FolderWish {
  /** Weights are made up. */
  readonly isDummy?: boolean;
  /** The tokenizer is elsewhere. */
  readonly hasTokenizer?: boolean;
  /** What the command calls it, such as `--folder DIR`. */
  readonly folderName?: string | undefined;
}

/**
 * Checks that a checkpoint folder, or one that the hub's tools downloaded, has the files that
 * serving needs; an error lists what is absent.
 */
export function checkModelFolder(
  path: string,
  { isDummy = false, hasTokenizer = false, folderName }: FolderWish = {},
): string {
  const folder = resolveModelFolder(path);
  if (!isFolder(folder)) {
    const names = isDummy ? `; or one of the built-in names, ${builtInModels.join(', ')}` : '';
    throw absent(path, folderName, names);
  }
  const wanted = ['config.json', ...(hasTokenizer ? [] : ['tokenizer.json'])];
  const missing = wanted.filter((file) => !existsSync(join(folder, file)));
  const weights = ['model.safetensors', 'model.safetensors.index.json'];
  const hasWeights = isDummy || weights.some((file) => existsSync(join(folder, file)));
  if (!hasWeights) missing.push(weights.join(' or '));
  if (missing.length > 0) {
    throw new ExitError('model', `the model folder ${path} lacks ${missing.join(', ')}`);
  }
  const pointers = readdirSync(folder).filter((file) => isLfsPointer(join(folder, file)));
  if (pointers.length > 0 && !isDummy) {
    throw new ExitError(
      'model',
      `${pointers.join(', ')} in ${path}: a Git LFS pointer each, not the file itself; run \`git lfs pull\` there`,
    );
  }
  return folder;
}

function absent(path: string, folderName = '--model DIR', orElse = ''): ExitError {
  const fact = `the model folder ${path} does not exist${notDownloaded(path)}`;
  const way = 'for example with `hf download MiniMaxAI/MiniMax-M3 --local-dir DIR`';
  const remedy = `get the checkpoint first, ${way}, and pass \`${folderName}\`${orElse}`;
  return new ExitError('model', `${fact}. The server does not download models; ${remedy}`);
}

function notDownloaded(path: string): string {
  return isHubId(path) ? `, and ${readEnvironment().hubCacheFolder} has no such model` : '';
}

const mostPointerBytes = 1024;

/** A clone without Git LFS holds a few lines of text in place of each large file. */
export function isLfsPointer(path: string): boolean {
  const { size, isFile } = fileFacts(path);
  if (!isFile || size > mostPointerBytes) return false;
  return readFileSync(path, 'latin1').startsWith('version https://git-lfs');
}

function fileFacts(path: string): { size: number; isFile: boolean } {
  const facts = statSync(path, { throwIfNoEntry: false });
  return { size: facts?.size ?? 0, isFile: facts?.isFile() ?? false };
}

/**
 * Sampling defaults and stop ids of `generation_config.json`; without the file, none. Values that
 * no request could have are an error here, not one of every request that leaves them to the
 * checkpoint.
 */
export function readGenerationDefaults(
  folder: string | undefined,
  which: string,
): GenerationDefaults {
  const isNamed = which !== 'auto' && which !== 'none';
  const place = isNamed ? which : folder;
  if (place === undefined) return { eosTokenIds: [] };
  const path = join(place, 'generation_config.json');
  if (isNamed && !existsSync(path)) {
    const expected = 'expected auto, none, or a folder with a generation_config.json';
    throw new ExitError('usage', `--generation-config ${which}: ${expected}`);
  }
  const config = which === 'none' || !existsSync(path) ? {} : readJson(path);
  const eos = config['eos_token_id'] ?? [];
  const eosTokenIds: unknown[] = Array.isArray(eos) ? eos : [eos];
  if (!eosTokenIds.every(isTokenId)) throw wrongDefault(path, 'eos_token_id', eos, 'token ids');
  const given = ranges.flatMap(({ field, name, expected, fits }) => {
    const value = config[field] ?? undefined;
    if (value === undefined) return [];
    if (typeof value !== 'number' || !fits(value)) throw wrongDefault(path, field, value, expected);
    return [[name, value]];
  });
  return { ...(Object.fromEntries(given) as Omit<GenerationDefaults, 'eosTokenIds'>), eosTokenIds };
}

/** The ranges that requests have. */
const ranges = [
  {
    field: 'temperature',
    name: 'temperature',
    expected: 'a number from 0 to 2',
    fits: (value: number) => value >= 0 && value <= 2,
  },
  {
    field: 'top_p',
    name: 'topP',
    expected: 'a number above 0, at most 1',
    fits: (value: number) => value > 0 && value <= 1,
  },
  {
    field: 'top_k',
    name: 'topK',
    expected: 'an integer from -1',
    fits: (value: number) => Number.isInteger(value) && value >= -1,
  },
  {
    field: 'min_p',
    name: 'minP',
    expected: 'a number from 0 to 1',
    fits: (value: number) => value >= 0 && value <= 1,
  },
] as const;

function isTokenId(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

function wrongDefault(path: string, field: string, value: unknown, expected: string): ExitError {
  const remedy = 'correct the file, or pass --generation-config none';
  const received = JSON.stringify(value);
  return new ExitError(
    'model',
    `${path}: ${field} is ${received}, expected ${expected}; ${remedy}`,
  );
}

function readJson(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
    throw new Error('not a JSON object');
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new ExitError('model', `${path} cannot be read: ${detail}`, { cause });
  }
}
