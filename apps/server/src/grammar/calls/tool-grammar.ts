import { controlTexts, type TagNames } from '@altstream/minimax-m3-chat';
import { oneOf } from '../choices/one-of.js';
import type { Grammar } from '../grammar.js';
import { literal } from '../literal.js';
import { type CallableFunction, CallRules } from './call-rules.js';
import { RuleList } from './rule-list.js';
import type { UnheldKeyword } from './unheld-keywords.js';

const marker = literal(controlTexts.namespace);

/** How calls are written. */
export interface CallForm {
  /** Exactly one call. */
  readonly isSingle: boolean;
  /** The field of the request that is blamed. */
  readonly param: string;
  /** Those that the output parser will know. */
  readonly names: TagNames;
}

/** A grammar of calls, and what of their schemas it does not hold. */
export interface ToolCallGrammar {
  readonly grammar: Grammar;
  /** Of each function, in their order. */
  readonly unheld: readonly (readonly UnheldKeyword[])[];
}

/**
 * Calls in the model's own markup as rules: function names, tags of parameters, required ones, and
 * what their schemas say of values. Objects whose names are free are JSON text. A value has no `]<`
 * in it, which begins a marker.
 *
 * @param functions those that may be called, at least one
 * @throws ApiError 400 for a parameter whose name cannot be a tag, and for too many rules
 */
export function toolCallGrammar(
  functions: readonly CallableFunction[],
  { isSingle, param, names }: CallForm,
): ToolCallGrammar {
  const rules = new RuleList(param);
  const all = functions.map((one) => new CallRules(rules, names, one));
  const ways = functions.map(({ name }, index) => ({
    text: `${name}">`,
    next: all[index]?.inner ?? '',
  }));
  const call = rules.add(
    `${marker} ${literal('<invoke name="')} (${oneOf(ways, (body) => rules.add(body))}) ${marker} "</invoke>\\n"`,
  );
  const calls = isSingle ? call : `${call}+`;
  const text = rules.text(`${marker} "<tool_call>\\n" ${calls} ${marker} "</tool_call>"`);
  return { grammar: { kind: 'ebnf', text }, unheld: all.map(({ unheld }) => unheld) };
}
