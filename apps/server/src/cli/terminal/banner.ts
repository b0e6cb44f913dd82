import type { EngineInfo } from '../../worker/messages.js';

/** What the last lines of a start are about. */
export interface BannerFacts {
  readonly url: string;
  readonly modelName: string;
}

/** Who may use the server, and what is kept of it. */
export interface BannerAccess {
  readonly isOpen: boolean;
  readonly servesUi: boolean;
  readonly logsContent: boolean;
  readonly tracesContent: boolean;
}

/** Lengths whose number of sequences is told, besides the longest. */
const lengths = [4096, 32_768];

/** What a person wants to know of a server that is ready. */
export function banner(
  { url, modelName: model }: BannerFacts,
  info: EngineInfo & { readonly readyMs: number },
  { isOpen, servesUi, logsContent, tracesContent }: BannerAccess,
): string {
  const nothing = meansNothing(info.report);
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 100,
  });
  const socket = /^unix:(.*)/.exec(url)?.[1];
  const routes = socket === undefined ? url : `--unix-socket ${socket} http://localhost`;
  const key = isOpen ? '' : ` -H 'authorization: Bearer KEY'`;
  const tokens = info.pages * info.pageTokens;
  const rows: [name: string, text: string][] = [
    ['ready', `${(info.readyMs / 1000).toFixed(2)} s after the start of the process`],
    ['context', `${info.maxModelLength} tokens`],
    ['KV cache', `${tokens} tokens in ${info.pages} pages of ${info.pageTokens}`],
    [
      'sequences',
      `${info.maxSequences} at once (${sequencesOf(info.maxModelLength, info)} at full length), ${info.maxWaiting} waiting`,
    ],
    ...lengthRow(info),
    ['graphs', graphText(info.report)],
    ...(servesUi && !socket ? [['web pages', `${url}/ui/`] as [string, string]] : []),
    ['API key', isOpen ? 'none: everyone who reaches the port may use the model' : 'required'],
  ];
  return [
    '',
    `  Altstream serves ${model} at ${url}${socket === undefined ? '/v1' : ''}`,
    '',
    ...(logsContent ? ['  THE LOG HOLDS PROMPTS AND ANSWERS (--log-content)', ''] : []),
    ...(tracesContent ? ['  TRACES HOLD PROMPTS AND ANSWERS (--otel-capture-content)', ''] : []),
    ...(nothing ? [`  ANSWERS ${nothing.toUpperCase()}`, ''] : []),
    ...rows.map(([name, text]) => `  ${name.padEnd(12)}${text}`),
    '',
    `  curl ${routes}/v1/chat/completions${key} -H 'content-type: application/json' -d '${body}'`,
    '',
    '',
  ].join('\n');
}

/** Why answers mean nothing; undefined when they are the checkpoint's. */
export function meansNothing(report: EngineInfo['report']): string | undefined {
  const { outputs } = report['model'] as { outputs?: string };
  return outputs?.startsWith('mean nothing') ? outputs : undefined;
}

/** Sequences of a length that run at once: what the cache holds, and no more than are allowed. */
function sequencesOf(length: number, { pages, pageTokens, maxSequences }: EngineInfo): number {
  return Math.min(maxSequences, Math.floor(pages / Math.ceil(length / pageTokens)));
}

function lengthRow(info: EngineInfo): [name: string, text: string][] {
  const told = lengths.filter((length) => length < info.maxModelLength);
  if (told.length === 0) return [];
  const texts = told.map((length) => `${sequencesOf(length, info)} of ${length} tokens`);
  return [['of length', texts.join(', ')]];
}

/** The decode graphs that were captured, by their rows. */
function graphText(report: EngineInfo['report']): string {
  const engine = report['engine'] as { decode?: { buckets?: readonly { rows: number }[] } };
  const rows = engine?.decode?.buckets?.map((bucket) => bucket.rows) ?? [];
  return rows.length === 0
    ? 'none: decode runs without graphs'
    : `decode of ${rows.join(', ')} rows`;
}
