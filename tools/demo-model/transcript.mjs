// A talk with the shipped demo model, as `altstream chat` shows it; the server has to be built.
//
//   node tools/demo-model/transcript.mjs                     prints it
//   node tools/demo-model/transcript.mjs --write README.md   puts it below that page's marker
//   node tools/demo-model/transcript.mjs --check README.md   fails where the model differs
//
// `--model DIR` takes another checkpoint. Answers are greedy. `--write` refuses answers that fp32
// and the default activations do not agree on, so that `--check` does not depend on the processor.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const marker = '<!-- made by tools/demo-model/transcript.mjs -->';
const head =
  'A talk with it, greedy, with a tool offered (`npm run chat -- --tools FILE --temperature 0`):';
const block = new RegExp(`${marker}\\n(?:\\n.*\\n\\n\`\`\`text\\n([\\s\\S]*?)\`\`\`\\n)?`);
const speedLine = /^\[\d+ tokens, .*\]\n/gm;

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
    },
  },
};

/**
 * What a person types; the second line of a pair is the result of the call that comes before it.
 */
const talk = [
  ['> ', 'Hello! Who are you?'],
  ['> ', 'What is 47 + 38?'],
  ['> ', 'Sort from small to large: 85, 39, 97, 69, 8, 73'],
  ['> ', 'What is the weather in Oslo?'],
  ['result of get_weather> ', '{"temperature": 7, "sky": "cloudy"}'],
  ['> ', 'Draw a cat.'],
];

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: join(root, 'packages/minimax-m3-tiny') },
    write: { type: 'string' },
    check: { type: 'string' },
  },
});

try {
  await main();
} catch (error) {
  process.stderr.write(`transcript: ${error.message}\n`);
  process.exitCode = 1;
}

async function main() {
  const transcript = await record({});
  if (values.write !== undefined) await write(values.write, transcript);
  else if (values.check !== undefined) check(values.check, transcript);
  else process.stdout.write(transcript);
}

async function write(file, transcript) {
  requireSame(await record({ ALTSTREAM_DTYPE: 'float32' }), transcript, 'fp32', 'the default');
  const page = readFileSync(file, 'utf8');
  if (!block.test(page)) throw new Error(`${file} has no line ${marker}`);
  const section = `${marker}\n\n${head}\n\n\`\`\`text\n${transcript}\`\`\`\n`;
  writeFileSync(
    file,
    page.replace(block, () => section),
  );
}

function check(file, transcript) {
  const written = block.exec(readFileSync(file, 'utf8'))?.[1];
  const remedy = `node tools/demo-model/transcript.mjs --write ${file}`;
  if (written === undefined) throw new Error(`${file} holds no transcript; make it: ${remedy}`);
  requireSame(written, transcript, file, 'the model now');
}

/** Compares what was said; how fast it was said differs each time. */
function requireSame(one, other, oneName, otherName) {
  const left = one.replaceAll(speedLine, '').split('\n');
  const right = other.replaceAll(speedLine, '').split('\n');
  const at = left.findIndex((line, index) => line !== right[index]);
  if (at < 0 && left.length === right.length) return;
  const place = at < 0 ? left.length : at;
  throw new Error(
    `line ${place + 1} differs\n  ${oneName}: ${left[place]}\n  ${otherName}: ${right[place]}`,
  );
}

/** Types the talk line by line, each when the answer before it has ended. */
async function record(environment) {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-'));
  const tools = join(folder, 'tools.json');
  writeFileSync(tools, JSON.stringify([weather]));
  const command = join(root, 'apps/server/dist/main.js');
  const args = [
    'chat',
    values.model,
    '--tools',
    tools,
    '--temperature',
    '0',
    '--max-tokens',
    '200',
  ];
  // One pipe for answers and notes, so that they keep their order.
  const child = spawn('sh', ['-c', 'exec "$0" "$@" 2>&1', process.execPath, command, ...args], {
    env: { ...process.env, ...environment },
  });
  try {
    return await typeTalk(child);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true });
  }
}

async function typeTalk(child) {
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  await until(
    child,
    () => output.includes('Ready after'),
    () => output,
  );
  let transcript = '';
  for (const [prompt, line] of talk) {
    // A result that nobody asked for would be a question.
    if (prompt.startsWith('result') && !output.includes('→ get_weather')) continue;
    output = '';
    child.stdin.write(`${line}\n`);
    await until(
      child,
      () => /^\[\d+ tokens, .*\]\n/m.test(output),
      () => output,
    );
    // What follows the speed, such as a note on the limit of tokens, is on its way.
    await pause(50);
    transcript += `${transcript && '\n'}${prompt}${line}\n${output}`;
  }
  return transcript;
}

async function until(child, isThere, said) {
  while (!isThere()) {
    if (child.exitCode !== null) throw new Error(`altstream chat ended: ${said()}`);
    await pause(20);
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
