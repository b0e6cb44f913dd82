import { z } from 'zod';
import { fieldError } from '../openai/parse-body.js';

const named = z.looseObject({ name: z.string() });
const expected = 'expected "none", "auto", "required", a function or allowed_tools';

/** `tool_choice` as OpenAI has it. */
export const toolChoice = z
  .union(
    [
      z.enum(['none', 'auto', 'required']),
      z.looseObject({ type: z.literal('function'), function: named }),
      z.looseObject({
        type: z.literal('allowed_tools'),
        allowed_tools: z.looseObject({
          mode: z.enum(['auto', 'required']),
          tools: z
            .array(z.looseObject({ function: named }))
            .min(1)
            .max(256),
        }),
      }),
    ],
    expected,
  )
  .nullish();

/** What a request says about its tools. */
interface ToolFields<Tool> {
  readonly tools?: readonly Tool[] | null | undefined;
  readonly tool_choice?: z.infer<typeof toolChoice>;
}

/** The tools that may be called, and whether one must be. */
export interface CallRule<Tool> {
  readonly tools: readonly Tool[];
  /** `one`: the one tool of the list, once. */
  readonly must: false | 'call' | 'one';
}

/** Reads `tool_choice`; a name that no tool has is a 400. */
export function callRuleOf<Tool extends { readonly function: { readonly name: string } }>({
  tools,
  tool_choice: choice,
}: ToolFields<Tool>): CallRule<Tool> {
  if (choice == null || choice === 'none') {
    return { tools: choice === 'none' ? [] : (tools ?? []), must: false };
  }
  if (!tools?.length) throw fieldError('tool_choice', 'needs `tools`');
  if (choice === 'auto') return { tools, must: false };
  if (choice === 'required') return { tools, must: 'call' };
  const find = (name: string): Tool => {
    const tool = tools.find((one) => one.function.name === name);
    if (!tool) throw fieldError('tool_choice', `no tool is named ${JSON.stringify(name)}`);
    return tool;
  };
  if ('function' in choice && choice.type === 'function') {
    return { tools: [find((choice.function as { name: string }).name)], must: 'one' };
  }
  const { mode, tools: allowed } = choice.allowed_tools as {
    mode: 'auto' | 'required';
    tools: readonly { readonly function: { readonly name: string } }[];
  };
  return {
    tools: allowed.map((one) => find(one.function.name)),
    must: mode === 'required' ? 'call' : false,
  };
}
