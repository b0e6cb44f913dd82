import { parseOverrides } from '@altstream/minimax-m3-model';
import { type Command, InvalidArgumentError } from 'commander';
import type { TlsFlags } from '../http/tls/tls-files.js';
import { addFixedFlags } from './fixed-flags.js';
import { addFlagAliases } from './flag-aliases.js';
import { addAnswerFlags } from './flags/answer-flags.js';
import { flag, natural, positive, upTo } from './flags/flag.js';
import { addHttpFlags } from './flags/http-flags.js';
import { addLimitFlags } from './flags/limit-flags.js';
import { addLogFlags } from './flags/log-flags.js';
import { type MockSettings, mockSettings } from './flags/mock-settings.js';
import { jsonObject } from './json-object.js';

/** Options of `altstream serve` as commander gives them. */
export interface ServeFlags extends TlsFlags {
  readonly config?: string;
  readonly printConfig?: boolean;
  readonly model?: string;
  readonly loadFormat: 'auto' | 'safetensors' | 'dummy';
  readonly override?: readonly string[];
  readonly seed: number;
  readonly simulateTpRank?: { readonly rank: number; readonly size: number };
  readonly tokenizer?: string;
  readonly tokenizerWorkerNum: number;
  readonly gpuMemoryUtilization?: number;
  readonly servedModelName?: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly uds?: string;
  readonly rootPath?: string;
  readonly apiKey?: readonly string[];
  readonly adminApiKey?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly profileDir?: string;
  readonly apiKeyFile?: string;
  readonly rateLimitRpm: number;
  readonly rateLimitTpm: number;
  readonly maxConnections: number;
  readonly overloadStatus: '429' | '503';
  readonly allowUnauthenticated?: boolean;
  readonly maxBodySize: number;
  readonly sseKeepAliveInterval: number;
  readonly clientStallTimeout: number;
  readonly streamInterval: number;
  readonly maxN: number;
  readonly maxPromptBatch: number;
  readonly maxLogprobs: number;
  readonly maxStopStrings: number;
  readonly maxLogitBias: number;
  readonly disableLogStats?: boolean;
  readonly watchdogTimeout: number;
  readonly shutdownTimeout: number;
  readonly device: 'auto' | 'cpu' | 'cuda' | `cuda:${number}`;
  readonly deviceIds?: readonly number[];
  readonly dtype: 'auto' | 'bfloat16' | 'float32';
  readonly maxModelLen?: number;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly maxNumPartialPrefills: number;
  readonly maxNumQueuedReqs?: number;
  readonly maxNumQueuedTokens?: number;
  readonly schedulingPolicy: 'fcfs' | 'priority';
  readonly itlTargetMs: number;
  readonly longPrefillTokenThreshold: number;
  readonly queueTimeout: number;
  readonly requestTimeout: number;
  readonly tenantHeader?: string;
  readonly maxTenantKvShare: number;
  readonly recordTrace?: string;
  readonly numGpuBlocksOverride?: number;
  readonly blockSize?: number;
  readonly enablePrefixCaching: boolean;
  readonly asyncScheduling: boolean;
  readonly prefixCacheIsolation?: 'none' | 'api-key';
  readonly cudaGraphSizes?: readonly number[];
  readonly enforceEager?: boolean;
  readonly overlap: 'capture' | 'always' | 'off';
  readonly sharedExpert: 'separate' | 'fused' | 'auto';
  readonly cpuThreads?: number;
  readonly generationConfig: string;
  readonly chatTemplate?: string;
  readonly trustRequestChatTemplate?: boolean;
  readonly defaultChatTemplateKwargs: Readonly<Record<string, unknown>>;
  readonly logLevel: string;
  readonly crashDir?: string;
  readonly logFormat?: 'pretty' | 'json';
  readonly disableLogRequests?: boolean;
  readonly logContent?: boolean;
  readonly otlpTracesEndpoint?: string;
  readonly otelCaptureContent?: boolean;
  readonly disableUi?: boolean;
  readonly disableDocs?: boolean;
  readonly metricsAuth: 'key' | 'open' | 'admin';
  readonly metricsAlias?: 'sglang';
  readonly enablePerRequestMetrics?: boolean;
  readonly strictTools?: boolean;
  readonly grammarBackend: 'xgrammar' | 'auto' | 'none';
  readonly strictMaxTokens?: boolean;
  readonly defaultMaxTokens?: number;
  readonly logprobsMode: 'raw' | 'processed';
  readonly reasoningField: 'both' | 'reasoning_content' | 'reasoning';
  readonly sglangCompat?: boolean;
  readonly allowMissingModel?: boolean;
  readonly enableForceIncludeUsage?: boolean;
  readonly debugHeaders?: boolean;
  readonly mockEngine?: MockSettings;
}

/**
 * Adds the flags of `serve`; each also reads `ALTSTREAM_…`. Names are vLLM's where it has one, and
 * sglang's are taken too. `applyConfigFile` reads the file that `--config` names.
 */
export function addServeFlags(command: Command): Command {
  addModelFlags(command);
  addHttpFlags(command);
  addLimitFlags(command);
  addAnswerFlags(command);
  addSchedulerFlags(command);
  addLogFlags(command);
  command
    .addOption(flag('--config <file>', 'YAML or JSON with flags; flags and environment win'))
    .addOption(flag('--print-config', 'print what would be used, and where it is from, and end'));
  addFixedFlags(command);
  return addFlagAliases(command);
}

function addModelFlags(command: Command): void {
  command
    .addOption(
      flag(
        '--model <dir>',
        'folder of a MiniMax-M3 checkpoint, or OWNER/NAME of one in the hub cache (default: the demo model)',
      ),
    )
    .addOption(
      flag('--load-format <format>', 'dummy: random weights; MiniMax-M3 needs no folder then')
        .choices(['auto', 'safetensors', 'dummy'])
        .default('auto'),
    )
    .addOption(
      flag('--override <field=value...>', 'fields of config.json to replace').argParser(overrides),
    )
    .addOption(flag('--seed <n>', 'of dummy weights').argParser(natural).default(0))
    .addOption(
      flag('--simulate-tp-rank <rank/size>', 'load one rank only, without the others').argParser(
        rank,
      ),
    )
    .addOption(flag('--tokenizer <dir>', 'folder of tokenizer.json, if not the model’s'))
    .addOption(
      flag('--tokenizer-worker-num <n>', 'threads that make tokens of prompts, at most 32')
        .argParser(upTo(32))
        .default(2),
    )
    .addOption(
      flag('--served-model-name <names...>', 'names that requests may use (default: folder name)'),
    )
    .addOption(flag('--device <device>', 'auto, cpu or cuda:N').argParser(device).default('auto'))
    .addOption(
      flag('--device-ids <ids...>', 'which CUDA device; one, as there is one rank').argParser(
        naturalList,
      ),
    )
    .addOption(
      flag('--dtype <dtype>', 'of activations')
        .choices(['auto', 'bfloat16', 'float32'])
        .default('auto'),
    )
    .addOption(flag('--max-model-len <tokens>', 'longest sequence').argParser(positive))
    .addOption(
      flag('--overlap <when>', 'run shared and routed experts on two streams')
        .choices(['capture', 'always', 'off'])
        .default('capture'),
    )
    .addOption(
      flag('--shared-expert <how>', 'on its own, or as one more routed expert')
        .choices(['separate', 'fused', 'auto'])
        .default('separate'),
    )
    .addOption(flag('--cpu-threads <n>', 'threads of the CPU backend').argParser(positive))
    .addOption(
      flag(
        '--generation-config <which>',
        'sampling defaults: auto (the checkpoint’s), none, or a folder',
      ).default('auto'),
    )
    .addOption(
      flag('--mock-engine <json>', 'no model: scripted answers, for tests').argParser(mockSettings),
    )
    .addOption(flag('--chat-template <file>', 'use this template instead of the checkpoint’s'))
    .addOption(
      flag('--trust-request-chat-template', 'requests may bring a template, which makes markers'),
    )
    .addOption(
      flag('--default-chat-template-kwargs <json>', 'template arguments of every request')
        .argParser(jsonObject)
        .default({}),
    );
}

/** Whose turn it is, and for how long. */
function addTurnFlags(command: Command): void {
  command
    .addOption(
      flag('--scheduling-policy <policy>', 'priority: requests may have one, lower comes sooner')
        .choices(['fcfs', 'priority'])
        .default('fcfs'),
    )
    .addOption(
      flag('--itl-target-ms <ms>', 'that prompts may keep decoding ones waiting; 0 = no limit')
        .argParser(natural)
        .default(50),
    )
    .addOption(
      flag('--long-prefill-token-threshold <n>', 'most tokens of one prompt in a step; 0 = any')
        .argParser(natural)
        .default(0),
    )
    .addOption(
      flag('--queue-timeout <s>', 'seconds that a request may wait for a place; 0 = no limit')
        .argParser(natural)
        .default(300),
    )
    .addOption(
      flag('--request-timeout <s>', 'seconds that a request may take; 0 = no limit')
        .argParser(natural)
        .default(0),
    )
    .addOption(
      flag('--tenant-header <name>', 'header that tells tenants of one key apart').argParser(token),
    )
    .addOption(
      flag('--max-tenant-kv-share <share>', 'of the cache, for all requests of one tenant')
        .argParser(share)
        .default(1),
    )
    .addOption(flag('--record-trace <file>', 'write every decision of the scheduler to it'));
}

function addSchedulerFlags(command: Command): void {
  addTurnFlags(command);
  command
    .addOption(
      flag('--max-num-seqs <n>', 'sequences that run at once').argParser(positive).default(8),
    )
    .addOption(
      flag('--max-num-batched-tokens <n>', 'prompt tokens of a step')
        .argParser(positive)
        .default(512),
    )
    .addOption(
      flag('--max-num-partial-prefills <n>', 'prompts that share a step')
        .argParser(positive)
        .default(2),
    )
    .addOption(flag('--max-num-queued-reqs <n>', 'sequences that wait').argParser(positive))
    .addOption(flag('--max-num-queued-tokens <n>', 'prompt tokens that wait').argParser(positive))
    .addOption(
      flag('--gpu-memory-utilization <share>', 'of the memory that may be used').argParser(share),
    )
    .addOption(flag('--num-gpu-blocks-override <n>', 'pages of the KV cache').argParser(positive))
    .addOption(
      flag('--block-size <tokens>', 'of a page; the model’s own or nothing').argParser(positive),
    )
    .addOption(
      flag('--enable-prefix-caching', 'requests that begin alike share pages').default(true),
    )
    .addOption(flag('--no-enable-prefix-caching', 'every prompt is computed whole'))
    .addOption(
      flag('--async-scheduling', 'a step is launched while the one before runs').default(true),
    )
    .addOption(flag('--no-async-scheduling', 'one step at a time'))
    .addOption(
      flag('--prefix-cache-isolation <by>', 'whose prompts a request may find').choices([
        'none',
        'api-key',
      ]),
    )
    .addOption(
      flag('--cuda-graph-sizes <rows...>', 'rows of the decode graphs').argParser(positiveList),
    )
    .addOption(flag('--enforce-eager', 'decode without graphs'));
}

function device(text: string): string {
  if (/^(auto|cpu|cuda(:\d+)?)$/.test(text)) return text;
  throw new InvalidArgumentError('Expected auto, cpu or cuda:N.');
}

/** One `field=value` an argument; the environment has several, apart by spaces. */
function overrides(text: string, previous?: readonly string[]): readonly string[] {
  const texts = [...(previous ?? []), ...text.trim().split(/\s+(?=[\w.]+\s*=)/)];
  try {
    parseOverrides(texts);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return texts;
}

function rank(text: string): { rank: number; size: number } {
  const [, first, second] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const parsed = { rank: Number(first), size: Number(second) };
  if (parsed.rank < parsed.size && parsed.size <= 1024) return parsed;
  throw new InvalidArgumentError('Expected RANK/SIZE with a rank below the size, such as 0/4.');
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= 1) return value;
  throw new InvalidArgumentError('Expected a number above 0, at most 1.');
}

/** Numbers apart by spaces or commas, in one argument or several. */
const listOf =
  (parse: (text: string) => number) =>
  (text: string, previous?: number[]): number[] => [
    ...(previous ?? []),
    ...text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(parse),
  ];

const positiveList = listOf(positive);
const naturalList = listOf(natural);

/** A name of a header. */
function token(text: string): string {
  if (/^[\w-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected the name of a header, such as x-tenant.');
}
