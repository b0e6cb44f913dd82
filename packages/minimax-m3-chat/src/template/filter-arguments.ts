import type { RuntimeValue } from './jinja-values.js';
import type { MarkedStrings } from './marked-strings.js';
import { known, type TemplateNode } from './template-node.js';

/** Positional and named arguments, evaluated. */
export type EvaluatedArguments = readonly [
  readonly RuntimeValue[],
  ReadonlyMap<string, RuntimeValue>,
];

/** Filters that take the nodes of their arguments, and only literals. */
const takingLiterals: ReadonlySet<string> = new Set(['selectattr', 'rejectattr']);
/** Arguments that filters write, by place or name; all others are compared or looked up. */
const written: ReadonlyMap<string, readonly (number | string)[]> = new Map([
  ['default', [0]],
  ['float', [0, 'default']],
  ['get', [1]],
  ['int', [0, 'default']],
  ['join', [0, 'separator']],
  ['map', ['default']],
  ['tojson', ['separators']],
]);

/** A call of a filter whose arguments are plain texts, except those that it writes. */
export function withPlainArguments(
  filter: TemplateNode,
  strings: MarkedStrings,
  evaluate: (args: readonly TemplateNode[]) => EvaluatedArguments,
): TemplateNode {
  if (!filter.args) return filter;
  const name = String(filter.callee?.value);
  if (takingLiterals.has(name)) {
    return { ...filter, args: filter.args.map((one) => ({ ...one, isPlain: true })) };
  }
  const [positional, named] = evaluate(filter.args);
  const given = (place: number | string, value: RuntimeValue): TemplateNode =>
    known(written.get(name)?.includes(place) ? value : strings.plain(value));
  const args = [
    ...positional.map((value, index) => given(index, value)),
    ...Array.from(named, ([key, value]) => ({
      type: 'KeywordArgumentExpression',
      key: { value: key },
      value: given(key, value),
    })),
  ];
  return { ...filter, args };
}
