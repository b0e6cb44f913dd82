import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildByteTokenizer, defaultChatTemplate } from '@altstream/minimax-m3-chat';
import { type Serving, startServing } from '../../makers/serving.js';

/** A whole server process on the mock engine, with the tokenizer of bytes. */
export interface MockServer extends Serving {
  /** The value of a metric whose line begins so; 0 if there is none yet. */
  metric(start: string): Promise<number>;
  /** Kills it, if it still runs. */
  dispose(): void;
}

/** A folder with the tokenizer of bytes, for `--tokenizer`. */
export function makeMockFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-mock-'));
  const { tokenizerJson } = buildByteTokenizer({ vocabSize: 600 });
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizerJson));
  writeFileSync(join(folder, 'chat_template.jinja'), defaultChatTemplate);
  writeFileSync(join(folder, 'generation_config.json'), '{"eos_token_id": 1}');
  return folder;
}

/** Starts it with these settings of the mock. */
export async function startMock(mock: object, ...flags: readonly string[]): Promise<MockServer> {
  const folder = makeMockFolder();
  const settings = ['--tokenizer', folder, '--mock-engine', JSON.stringify(mock)];
  const serving = await startServing(...settings, ...flags);
  return {
    ...serving,
    metric: (start) => metricOf(serving.url, start),
    dispose: () => {
      serving.child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The value of a server's metric whose line begins so; 0 if there is none yet. */
export async function metricOf(url: string, start: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(start));
  return Number(line?.split(' ').at(-1) ?? 0);
}
