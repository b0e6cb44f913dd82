import {
  arrayValue,
  isArray,
  isObject,
  isString,
  objectValue,
  type RuntimeValue,
} from './jinja-values.js';
import type { MarkedStrings } from './marked-strings.js';
import type { TemplateNode } from './template-node.js';

/** Filters that give out items of a list, chosen or ordered by what they compare of them. */
const comparing: ReadonlySet<string> = new Set(['sort', 'unique', 'selectattr', 'rejectattr']);

/**
 * Applies a filter that compares items: it sees the compared texts without marks, and the items
 * that it gives out are those that it was given.
 */
export function applyToPlainItems(
  operand: RuntimeValue,
  filter: TemplateNode,
  { strings, apply }: { strings: MarkedStrings; apply: (operand: RuntimeValue) => RuntimeValue },
): RuntimeValue {
  const name = String((filter.callee ?? filter).value);
  const given = new Map<RuntimeValue, RuntimeValue>();
  const plainItem = (item: RuntimeValue, path: readonly string[]): RuntimeValue => {
    const plain = plainAt(item, path, strings);
    given.set(plain, item);
    return plain;
  };
  const givenOf = (plain: RuntimeValue): RuntimeValue => given.get(plain) ?? plain;
  if (comparing.has(name) && isArray(operand)) {
    const path = pathOf(name, filter.args ?? []);
    const result = apply(arrayValue(operand.value.map((item) => plainItem(item, path))));
    return isArray(result) ? arrayValue(result.value.map(givenOf)) : result;
  }
  if (name !== 'dictsort' || !isObject(operand)) return apply(operand);
  const entries = Array.from(operand.value, ([key, item]): [string, RuntimeValue] => [
    key,
    plainItem(item, []),
  ]);
  const pairs = apply(objectValue(new Map(entries)));
  if (!isArray(pairs)) return pairs;
  return arrayValue(
    pairs.value.map((pair) => (isArray(pair) ? arrayValue(pair.value.map(givenOf)) : pair)),
  );
}

/** What the filter compares of an item, by its plain and evaluated arguments. */
function pathOf(name: string, args: readonly TemplateNode[]): readonly string[] {
  if (name === 'unique') return [];
  if (name !== 'sort') return [String(args[0]?.value)];
  const attribute = args.find((one) => one.key?.value === 'attribute')?.value;
  const node = args.filter(({ key }) => key === undefined)[2] ?? (attribute as TemplateNode);
  const path = node?.known;
  return isString(path) ? path.value.split('.') : path?.value == null ? [] : [String(path.value)];
}

/** The value with a plain text where the path leads; the rest stays as it is. */
function plainAt(
  value: RuntimeValue,
  [part, ...rest]: readonly string[],
  strings: MarkedStrings,
): RuntimeValue {
  if (part === undefined) return strings.plain(value);
  if (isArray(value)) {
    const index = Number.parseInt(part, 10);
    return arrayValue(
      value.value.map((item, at) => (at === index ? plainAt(item, rest, strings) : item)),
    );
  }
  const inner = isObject(value) ? value.value.get(part) : undefined;
  if (!isObject(value) || inner === undefined) return value;
  const plain = plainAt(inner, rest, strings);
  return plain === inner ? value : objectValue(new Map(value.value).set(part, plain));
}
