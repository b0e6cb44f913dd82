import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, tokenize } from '@huggingface/jinja';
import { TemplateError } from './errors/index.js';
import { cutReason } from './template/cut-reason.js';
import { jinjaGlobals, RaisedByTemplate } from './template/jinja-globals.js';
import type { ChatMessage, ToolDefinition } from './template/messages.js';
import { prepareMessages } from './template/prepare-messages.js';
import { runTemplate, type TemplateProgram } from './template/run-template.js';
import { type MarkedText, TemplateMarks } from './template/template-marks.js';

const maxPromptChars = 64 * 1024 * 1024;
const maxDepth = 128;

/** What a template is rendered with. */
export interface RenderInput {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** End with the marker that begins the assistant's turn. Default true. */
  readonly addGenerationPrompt?: boolean;
  /** `chat_template_kwargs` of the request, for example `{ thinking_mode: 'enabled' }`. */
  readonly kwargs?: Readonly<Record<string, unknown>>;
}

/** A rendered prompt; give it to `ChatTokenizer.encodePrompt`. */
export type RenderedPrompt = MarkedText;

/** A parsed `chat_template.jinja` of a checkpoint. */
export class ChatTemplate {
  readonly #program: TemplateProgram;
  readonly #controlTexts: readonly string[];
  readonly #taken: ReadonlySet<string>;
  readonly #marks: TemplateMarks;

  /**
   * @param source  Jinja text
   * @param controlTexts  literals of the tokenizer's added tokens (`ChatTokenizer.addedTexts`)
   * @throws TemplateError `CHAT_TEMPLATE_SYNTAX`
   */
  constructor(source: string, controlTexts: readonly string[]) {
    this.#controlTexts = controlTexts;
    this.#taken = TemplateMarks.takenIn(source);
    this.#marks = new TemplateMarks(controlTexts, this.#taken);
    try {
      this.#program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
    } catch (cause) {
      throw new TemplateError(
        'CHAT_TEMPLATE_SYNTAX',
        `chat template: cannot be parsed (${reasonOf(cause as Error, source)}); ` +
          'check chat_template.jinja of the checkpoint',
        { cause },
      );
    }
  }

  /**
   * Renders a dialogue. Text that came with the request can never become a control token.
   * @throws TemplateError: `CHAT_TEMPLATE_INPUT` (malformed messages), `CHAT_TEMPLATE_RAISED` (the
   *   template refused them), `CHAT_TEMPLATE_FAILED`, `CHAT_TEMPLATE_TOO_LARGE`
   */
  render(input: RenderInput): RenderedPrompt {
    const globals = jinjaGlobals(new Date());
    const kwargs = input.kwargs ?? {};
    const given = {
      messages: prepareMessages(input.messages),
      tools: input.tools !== undefined && input.tools.length > 0 ? input.tools : null,
    };
    checkKwargs(kwargs, { ...globals, ...given, add_generation_prompt: true });
    checkSize([given, kwargs]);
    const marks = this.#marksBeside([given, kwargs]);
    const rendered = this.#run(
      {
        ...globals,
        ...kwargs,
        ...given,
        add_generation_prompt: input.addGenerationPrompt !== false,
      },
      marks,
    );
    if (rendered.length > maxPromptChars) throw tooLarge('the prompt', rendered.length);
    return marks.restore(rendered);
  }

  /** Others than usual where a request has characters that mark. */
  #marksBeside(given: unknown): TemplateMarks {
    const taken = TemplateMarks.takenBy(given);
    if (this.#marks.isFreeOf(taken)) return this.#marks;
    return new TemplateMarks(this.#controlTexts, new Set([...this.#taken, ...taken]));
  }

  #run(variables: Record<string, unknown>, marks: TemplateMarks): string {
    try {
      return runTemplate(this.#program, variables, marks);
    } catch (cause) {
      if (cause instanceof RaisedByTemplate) {
        throw new TemplateError(
          'CHAT_TEMPLATE_RAISED',
          `render: the chat template refused the messages: ${cause.message}`,
          { cause },
        );
      }
      throw new TemplateError(
        'CHAT_TEMPLATE_FAILED',
        `render: the chat template failed (${cutReason((cause as Error).message)})`,
        { cause },
      );
    }
  }
}

/**
 * Loads the template of a checkpoint folder: `chat_template.jinja`, else `chat_template` of
 * tokenizer_config.json.
 * @throws TemplateError `CHAT_TEMPLATE_MISSING`, `CHAT_TEMPLATE_SYNTAX`
 */
export async function loadTemplate(
  folder: string,
  controlTexts: readonly string[],
): Promise<ChatTemplate> {
  const source =
    (await readOptional(join(folder, 'chat_template.jinja'))) ??
    templateOfConfig(await readOptional(join(folder, 'tokenizer_config.json')));
  if (source === undefined) {
    throw new TemplateError(
      'CHAT_TEMPLATE_MISSING',
      `loadTemplate: ${folder} has neither chat_template.jinja nor a chat_template in ` +
        'tokenizer_config.json; copy chat_template.jinja from the checkpoint',
    );
  }
  return new ChatTemplate(source, controlTexts);
}

/** The library does not know the one word of loops, and says nothing that helps. */
function reasonOf(error: Error, source: string): string {
  if (/\{%-?\s*for\s[^%]*\srecursive\s*-?%\}/.test(source)) {
    return 'loops marked `recursive` are not supported, use a macro that calls itself';
  }
  return cutReason(error.message);
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new TemplateError('CHAT_TEMPLATE_MISSING', `loadTemplate: cannot read ${path}`, {
      cause,
    });
  }
}

/** Either one text, or a list of named texts of which `default` counts. */
function templateOfConfig(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  let template: unknown;
  try {
    template = (JSON.parse(text) as { chat_template?: unknown } | null)?.chat_template;
  } catch (cause) {
    throw new TemplateError(
      'CHAT_TEMPLATE_MISSING',
      'loadTemplate: tokenizer_config.json is not JSON',
      {
        cause,
      },
    );
  }
  if (typeof template === 'string') return template;
  if (!Array.isArray(template)) return undefined;
  const named = template as { name?: unknown; template?: unknown }[];
  const chosen = named.find((entry) => entry?.name === 'default')?.template;
  return typeof chosen === 'string' ? chosen : undefined;
}

function checkKwargs(kwargs: Readonly<Record<string, unknown>>, reserved: object): void {
  const taken = Object.keys(kwargs).find((name) => Object.hasOwn(reserved, name));
  if (taken === undefined) return;
  throw new TemplateError(
    'CHAT_TEMPLATE_INPUT',
    `render: \`kwargs.${taken}\` is a name of the template itself; rename it, or pass its value ` +
      'through the request field of that name',
  );
}

function checkSize(value: unknown): void {
  const chars = countChars(value, 0);
  if (chars > maxPromptChars) throw tooLarge('the messages', chars);
}

function tooLarge(what: string, chars: number): TemplateError {
  return new TemplateError(
    'CHAT_TEMPLATE_TOO_LARGE',
    `render: ${what} would have ${chars} characters, at most ${maxPromptChars} are rendered`,
  );
}

function tooDeep(): TemplateError {
  return new TemplateError(
    'CHAT_TEMPLATE_INPUT',
    `render: a message, tool or argument is nested deeper than ${maxDepth}; flatten it`,
  );
}

function countChars(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  // Messages begin two levels below what is counted.
  if (depth > maxDepth + 2) throw tooDeep();
  let chars = 0;
  for (const [key, item] of Object.entries(value))
    chars += key.length + countChars(item, depth + 1);
  return chars;
}
