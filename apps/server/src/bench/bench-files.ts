import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderOf, orWriteError } from '../config/output-folder.js';

/** Where a result goes. */
export interface ResultFiles {
  /** One JSON file a run. */
  readonly json?: string | undefined;
  /** One more line for each run. */
  readonly jsonl?: string | undefined;
  readonly svg?: string | undefined;
}

/** What of the flags decides that. */
export interface ResultFlags {
  readonly saveResult?: boolean;
  readonly resultDir: string;
  readonly resultFilename?: string;
  readonly outputFile?: string;
  readonly plot?: string;
}

/**
 * The files that the flags mean, in folders that are there; with `--save-result`, a plot lies
 * beside the JSON.
 *
 * @param stem of a name, such as `openai-inf-M3-20261130-101500`
 * @throws ExitError (usage) for folders that cannot be written, better before the run than after it
 */
export function resultFiles(flags: ResultFlags, stem: string): ResultFiles {
  const name = flags.resultFilename ?? `${stem}.json`;
  const json = flags.saveResult ? join(flags.resultDir, name) : undefined;
  const files = {
    json,
    jsonl: flags.outputFile,
    svg: flags.plot ?? json?.replace(/(\.json)?$/, '.svg'),
  };
  if (json !== undefined) makeFolderOf(json, `--result-dir ${flags.resultDir}`);
  if (files.jsonl !== undefined) makeFolderOf(files.jsonl, `--output-file ${files.jsonl}`);
  if (files.svg !== undefined) makeFolderOf(files.svg, `--plot ${files.svg}`);
  return files;
}

/** Writes the result to each of them. @throws ExitError (usage) */
export function writeResults({ json, jsonl, svg }: ResultFiles, result: object, plot: string) {
  if (json !== undefined) {
    orWriteError(json, () => writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`));
  }
  if (jsonl !== undefined) {
    orWriteError(jsonl, () => appendFileSync(jsonl, `${JSON.stringify(result)}\n`));
  }
  if (svg !== undefined) orWriteError(svg, () => writeFileSync(svg, plot));
}
