import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Another folder that `tools/demo-model/collect` filled, in place of the repository's package. */
const named = process.env['ALTSTREAM_DEMO_MODEL'];
const neighbour = fileURLToPath(new URL('../../../../packages/minimax-m3-tiny', import.meta.url));

/** Folder of the trained demo model's checkpoint. */
export const demoFolder = named ?? neighbour;

/** A bundle for a GPU host comes without the package. In the repository it is always there. */
export const demoIsLeftOut = !existsSync(join(neighbour, 'package.json'));

/** For the title of what is left out. */
export const leftOutBecause = demoIsLeftOut ? ' (minimax-m3-tiny is not in this bundle)' : '';

/** The first step of every test of the demo model, so that missing weights are told as such. */
export function requireDemoWeights(): void {
  const index = 'model.safetensors.index.json';
  if (existsSync(join(demoFolder, index))) return;
  const remedy = 'restore the folder with git, or make them with tools/demo-model';
  throw new Error(`the demo model in ${demoFolder} has no weights: ${index} is missing; ${remedy}`);
}

/** A prompt of the evaluation suite. */
export interface DemoPrompt {
  readonly id: string;
  readonly skill: string;
  readonly thinking: 'enabled' | 'disabled' | 'adaptive';
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { type: 'function'; function: { name: string } }[];
  readonly check: { readonly type: string; readonly value?: string };
}

/** The evaluation suite of the demo model; empty where the package is left out. */
export function readDemoSuite(): DemoPrompt[] {
  if (demoIsLeftOut) return [];
  return readFileSync(join(neighbour, 'eval', 'demo.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as DemoPrompt);
}

/** What transformers answers, greedily and in fp32. */
export interface DemoAnswer {
  /** Id in the suite. */
  readonly prompt: string;
  /** The rendered prompt. */
  readonly ids: readonly number[];
  readonly tokens: readonly number[];
  /** Least distance between the best and the second best logit on the way. */
  readonly smallestGap: number;
}

/** The greedy answers of the golden file. */
export function readDemoAnswers(): DemoAnswer[] {
  const file = readFileSync(join(demoFolder, 'goldens', 'goldens.json'), 'utf8');
  return (JSON.parse(file) as { greedy: DemoAnswer[] }).greedy;
}
