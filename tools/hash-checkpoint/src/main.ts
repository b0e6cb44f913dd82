/** Command line: `tsx tools/hash-checkpoint/src/main.ts --model T32 --out DIR`. */

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { ConfigJson } from './hash-config.js';
import { writeHashCheckpoint } from './write-checkpoint.js';

const usage = `Writes a MiniMax-M3 model with hash weights as a checkpoint folder.

  --model T32|T128|FILE   built-in model, or a config.json
  --out DIR               folder to write
  --mxfp8                 quantise as the MXFP8 release does
  --shards N              number of safetensors files (default 1)
  --flat-config           config.json in the flat spelling of transformers 5
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      out: { type: 'string' },
      mxfp8: { type: 'boolean', default: false },
      shards: { type: 'string', default: '1' },
      'flat-config': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { model, out } = values;
  if (values.help || !model || !out) {
    process.stdout.write(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const shards = Number(values.shards);
  if (!Number.isInteger(shards) || shards < 1) {
    throw new Error(`--shards: \`${values.shards}\` is no positive whole number`);
  }
  const written = await writeHashCheckpoint({
    model: model === 'T32' || model === 'T128' ? model : await readConfig(model),
    directory: out,
    mxfp8: values.mxfp8,
    shards,
    flatConfig: values['flat-config'],
  });
  for (const { file, tensors, bytes } of written) {
    process.stdout.write(`${file}: ${tensors} tensors, ${bytes} bytes\n`);
  }
}

async function readConfig(file: string): Promise<ConfigJson> {
  const parsed: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`${file}: no JSON object`);
  return parsed as ConfigJson;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
