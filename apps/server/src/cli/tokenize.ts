import {
  type ChatTokenizer,
  loadTokenizer,
  type TemplateErrorCode,
} from '@altstream/minimax-m3-chat';
import { type Command, Option } from 'commander';
import { printable } from '../client/printable.js';
import { findTexts } from '../config/model-folder.js';
import { ApiError, ExitError } from '../errors/index.js';
import { type ChatPrompt, chatPromptOf } from '../http/prompt/chat-prompt.js';
import { syntaxProblem } from '../http/prompt/syntax-problem.js';
import { parseTemplateRequest } from '../openai/text-requests.js';
import { textOf } from '../openai/token-text.js';
import { prepareApart } from '../worker/text/prepare-apart.js';
import { orExit } from './terminal/or-exit.js';
import { argumentOrInput } from './terminal/read-input.js';

const formats = ['table', 'json', 'ids', 'count'] as const;

interface TokenizeFlags {
  readonly model?: string;
  readonly chat?: boolean;
  readonly decode?: boolean;
  /** Undefined = a table of tokens, or what they say. */
  readonly format?: (typeof formats)[number];
}

/**
 * `altstream tokenize`: what a text or a chat is in tokens, or what tokens are as text; without a
 * server.
 */
export function addTokenizeCommand(program: Command): void {
  program
    .command('tokenize')
    .description('show the tokens of a text or a chat, from the files of a checkpoint alone')
    .argument('[text]', 'what to tokenize (default: all of the standard input)')
    .option('--model <dir>', 'folder with a tokenizer.json (default: the demo model)')
    .option('--chat', 'the text is JSON: a list of messages, or a chat request')
    .option('--decode', 'the text is token ids: print what they say, or with --format json that')
    .addOption(formatOption())
    .action((text: string | undefined, flags: TokenizeFlags) =>
      orExit(async () => {
        checkFlags(flags);
        const input = await argumentOrInput(text);
        const folder = findTexts(flags.model);
        const tokenizer = await loadTokenizer(folder).catch((cause: Error) => {
          throw new ExitError('model', cause.message, { cause });
        });
        process.stdout.write(
          flags.decode
            ? decoded(input, tokenizer, flags.format)
            : shown(await idsOf(input, flags, { tokenizer, folder }), tokenizer, flags.format),
        );
      }),
    );
}

function formatOption(): Option {
  return new Option('--format <format>', 'of the output (default: "table")').choices(formats);
}

function checkFlags({ chat, decode, format }: TokenizeFlags): void {
  if (chat && decode) {
    throw new ExitError('usage', '--chat and --decode contradict each other; leave one out');
  }
  if (!decode || format === undefined || format === 'json') return;
  const problem = `--format ${format} is of tokens, and --decode prints a text`;
  throw new ExitError('usage', `${problem}; leave it out, or pass --format json`);
}

/** Texts of special tokens are special tokens in a text, and text in messages. */
async function idsOf(
  input: string,
  { chat }: TokenizeFlags,
  { tokenizer, folder }: { readonly tokenizer: ChatTokenizer; readonly folder: string },
): Promise<readonly number[]> {
  if (!chat) return tokenizer.encode(input, { specials: true });
  const prompt = chatOf(input);
  try {
    return (await prepareApart(folder, { kind: 'chat', ...prompt })).ids;
  } catch (error) {
    throw chatError(error as Error, prompt.template !== undefined);
  }
}

/** A template that fails whatever it gets is the fault of whoever brought it. */
function chatError(cause: Error, hasTemplate: boolean): ExitError {
  const { code, message } = cause as Error & { code?: string };
  const isOfCheckpoint = !hasTemplate && unusable.some((one) => one === code);
  if (isOfCheckpoint) return new ExitError('model', message, { cause });
  const isOurs = cause instanceof ApiError && cause.status === 500;
  const isSyntax = code === 'CHAT_TEMPLATE_SYNTAX';
  const problem = isSyntax ? `chat_template cannot be parsed: ${syntaxProblem(message)}` : message;
  return new ExitError(isOurs ? 'engine' : 'usage', `--chat: ${problem}`, { cause });
}

const unusable: readonly TemplateErrorCode[] = [
  'CHAT_TEMPLATE_MISSING',
  'CHAT_TEMPLATE_SYNTAX',
  'CHAT_TEMPLATE_FAILED',
];

/** Who runs the command may render with any template: it costs nobody else. */
function chatOf(text: string): ChatPrompt {
  try {
    const value: unknown = JSON.parse(text);
    const request = parseTemplateRequest(Array.isArray(value) ? { messages: value } : value);
    const settings = { defaultTemplateKwargs: {}, trustsTemplates: true };
    return chatPromptOf(request, { settings });
  } catch (cause) {
    if (!(cause instanceof ApiError) && !(cause instanceof SyntaxError)) throw cause;
    throw new ExitError('usage', `--chat: ${cause.message}`, { cause });
  }
}

function decoded(text: string, tokenizer: ChatTokenizer, format: TokenizeFlags['format']): string {
  const words = text.split(/[\s,[\]]+/).filter(Boolean);
  const ids = words.map((word) => {
    const id = /^\d+$/.test(word) ? Number(word) : Number.NaN;
    if (id < tokenizer.vocabSize) return id;
    const most = tokenizer.vocabSize - 1;
    throw new ExitError('usage', `--decode: ${word} is no token id; expected 0 to ${most}`);
  });
  const said = tokenizer.decode(ids);
  if (format === 'json') return `${JSON.stringify({ prompt: said })}\n`;
  return process.stdout.isTTY ? `${printable(said)}\n` : said;
}

function shown(
  ids: readonly number[],
  tokenizer: ChatTokenizer,
  format: TokenizeFlags['format'],
): string {
  if (format === 'count') return `${ids.length}\n`;
  if (format === 'ids') return `${JSON.stringify(ids)}\n`;
  const texts = { bytesOf: (id: number) => tokenizer.bytes.bytesOf(id), asTokenIds: false };
  const strings = ids.map((id) => textOf(id, texts));
  if (format === 'json') {
    return `${JSON.stringify({ count: ids.length, tokens: ids, token_strs: strings })}\n`;
  }
  // Not spread into `Math.max`: the arguments of a call are on the stack.
  const width = String(ids.reduce((most, id) => Math.max(most, id), 0)).length;
  const lines = ids.map(
    (id, at) => `${String(id).padStart(width)}  ${JSON.stringify(strings[at])}\n`,
  );
  return printable(lines.join(''));
}
