import { Environment, Interpreter, type parse } from '@huggingface/jinja';
import {
  type FunctionValue,
  functionValue,
  isFunction,
  isObject,
  isString,
  objectValue,
  type RuntimeValue,
  stringValue,
} from './jinja-values.js';
import { MarkedStrings } from './marked-strings.js';
import type { TemplateMarks } from './template-marks.js';

/** Calls of macros inside of each other; the library's stack holds more than twice as many. */
const mostMacroDepth = 256;

/** A parsed template. */
export type TemplateProgram = ReturnType<typeof parse>;

/** A node of a parsed template, with what is read of it here. */
interface TemplateNode {
  readonly type: string;
  readonly value?: unknown;
  readonly name?: { readonly value: string };
  readonly object?: TemplateNode;
  readonly property?: TemplateNode;
  readonly callee?: TemplateNode;
  readonly args?: readonly TemplateNode[];
  readonly operand?: TemplateNode;
  readonly left?: TemplateNode;
  readonly right?: TemplateNode;
  readonly operator?: { readonly value: string };
  readonly computed?: boolean;
  /** A value in place of a node, ours. */
  readonly known?: RuntimeValue;
  /** A literal that is compared and never written, ours. */
  readonly isPlain?: boolean;
}

type Evaluate = (node: TemplateNode, scope: Environment) => RuntimeValue;

/** The library's interpreter with the methods through which it does all its work. */
interface OpenInterpreter {
  run(program: TemplateProgram): RuntimeValue;
  evaluate: Evaluate;
  evaluateBinaryExpression: Evaluate;
  evaluateMemberExpression: Evaluate;
  evaluateTestExpression: Evaluate;
  evaluateMacro: Evaluate;
  evaluateArguments(
    args: readonly TemplateNode[],
    scope: Environment,
  ): [RuntimeValue[], Map<string, RuntimeValue>];
  applyFilter(operand: RuntimeValue, filter: TemplateNode, scope: Environment): RuntimeValue;
}

/** Operators that write their operands, or choose one of them. */
const writing: ReadonlySet<string> = new Set(['+', '~', 'and', 'or']);
/** Filters that look at the characters of texts. */
const reading: ReadonlySet<string> = new Set(['int', 'float', 'sort', 'unique', 'dictsort']);
/** Filters that write their arguments. */
const writingArguments: ReadonlySet<string> = new Set(['default', 'join', 'replace']);

/**
 * Runs a template with the library's interpreter. Its literals have marks where they are control
 * tokens; whatever compares, searches or changes texts takes them for what they stand for.
 *
 * @returns the rendered text, with marks
 */
export function runTemplate(
  program: TemplateProgram,
  variables: Readonly<Record<string, unknown>>,
  marks: TemplateMarks,
): string {
  const environment = new Environment();
  for (const [name, value] of Object.entries(variables)) {
    environment.set(name, typeof value === 'function' ? withPlainTexts(value, marks) : value);
  }
  const interpreter = new Interpreter(environment) as unknown as OpenInterpreter;
  const library = libraryOf(interpreter);
  const strings = new MarkedStrings(marks);
  compareByText(interpreter, library, strings);
  callByText(interpreter, library, strings);
  filterByText(interpreter, library, { strings, marks });
  boundMacros(interpreter, library);
  interpreter.evaluate = (node, scope) => {
    switch (node?.type) {
      case 'KnownValue':
        return node.known as RuntimeValue;
      case 'StringLiteral':
        return stringValue(
          node.isPlain ? (node.value as string) : marks.mark(node.value as string),
        );
      case 'ObjectLiteral':
        return withPlainKeys(library.evaluate(node, scope), marks);
      default:
        return library.evaluate(node, scope);
    }
  };
  return String(interpreter.run(program).value);
}

/** Its methods as they were, called on the interpreter. */
function libraryOf(interpreter: OpenInterpreter): OpenInterpreter {
  return {
    run: interpreter.run.bind(interpreter),
    evaluate: interpreter.evaluate.bind(interpreter),
    evaluateBinaryExpression: interpreter.evaluateBinaryExpression.bind(interpreter),
    evaluateMemberExpression: interpreter.evaluateMemberExpression.bind(interpreter),
    evaluateTestExpression: interpreter.evaluateTestExpression.bind(interpreter),
    evaluateMacro: interpreter.evaluateMacro.bind(interpreter),
    evaluateArguments: interpreter.evaluateArguments.bind(interpreter),
    applyFilter: interpreter.applyFilter.bind(interpreter),
  };
}

function compareByText(
  interpreter: OpenInterpreter,
  library: OpenInterpreter,
  strings: MarkedStrings,
): void {
  const plain = (node: TemplateNode | undefined, scope: Environment): TemplateNode =>
    known(strings.plain(interpreter.evaluate(node as TemplateNode, scope)));
  interpreter.evaluateBinaryExpression = (node, scope) => {
    if (writing.has(node.operator?.value ?? ''))
      return library.evaluateBinaryExpression(node, scope);
    const [left, right] = [plain(node.left, scope), plain(node.right, scope)];
    return library.evaluateBinaryExpression({ ...node, left, right }, scope);
  };
  interpreter.evaluateTestExpression = (node, scope) =>
    library.evaluateTestExpression({ ...node, operand: plain(node.operand, scope) }, scope);
}

function callByText(
  interpreter: OpenInterpreter,
  library: OpenInterpreter,
  strings: MarkedStrings,
): void {
  interpreter.evaluateMemberExpression = (node, scope) => {
    const object = interpreter.evaluate(node.object as TemplateNode, scope);
    const isKey = node.computed === true && node.property?.type !== 'SliceExpression';
    const key = isKey
      ? strings.plain(interpreter.evaluate(node.property as TemplateNode, scope))
      : undefined;
    const property = key === undefined ? node.property : known(key);
    const given = { ...node, object: known(object), property } as TemplateNode;
    const value = library.evaluateMemberExpression(given, scope);
    const name = String(key === undefined ? node.property?.value : key.value);
    if (!isFunction(value)) return value;
    if (isString(object) && strings.hasMethod(name)) {
      return functionValue((args, inner) => strings.call(name, object, args, inner));
    }
    const isGet = isObject(object) && name === 'get' && object.builtins.get('get') === value;
    if (!isGet) return value;
    return functionValue(([wanted, ...rest], inner) =>
      value.value(wanted === undefined ? [] : [strings.plain(wanted), ...rest], inner),
    );
  };
}

function filterByText(
  interpreter: OpenInterpreter,
  library: OpenInterpreter,
  { strings, marks }: { readonly strings: MarkedStrings; readonly marks: TemplateMarks },
): void {
  interpreter.applyFilter = (operand, filter, scope) => {
    const name = String((filter.callee ?? filter).value);
    if (isString(operand) && strings.hasMethod(name)) {
      const [args, options] = interpreter.evaluateArguments(filter.args ?? [], scope);
      const count = options.get('count');
      return strings.call(name, operand, count ? [...args, count] : args, scope);
    }
    const given = reading.has(name) ? strings.plain(operand) : operand;
    const node = writingArguments.has(name) ? filter : withPlainLiterals(filter);
    const result = library.applyFilter(given, node, scope);
    return name === 'tojson' && isString(result) && filter.args
      ? stringValue(marks.unescape(result.value))
      : result;
  };
}

/** A macro may call itself: not for ever, and not until the stack is full. */
function boundMacros(interpreter: OpenInterpreter, library: OpenInterpreter): void {
  let depth = 0;
  interpreter.evaluateMacro = (node, scope) => {
    const result = library.evaluateMacro(node, scope);
    const name = node.name?.value ?? '';
    const macro = scope.lookupVariable(name) as unknown as FunctionValue;
    const { value: call } = macro;
    macro.value = (args, inner) => {
      if (depth >= mostMacroDepth) {
        throw new Error(`macro '${name}': more than ${mostMacroDepth} calls inside of each other`);
      }
      depth += 1;
      const made = call(args, inner);
      depth -= 1;
      return made;
    };
    return result;
  };
}

function known(value: RuntimeValue): TemplateNode {
  return { type: 'KnownValue', known: value };
}

function withPlainLiterals(filter: TemplateNode): TemplateNode {
  if (!filter.args) return filter;
  const args = filter.args.map((one) =>
    one.type === 'StringLiteral' ? { ...one, isPlain: true } : one,
  );
  return { ...filter, args };
}

/** Keys are looked up by their text. */
function withPlainKeys(value: RuntimeValue, marks: TemplateMarks): RuntimeValue {
  if (!isObject(value)) return value;
  const entries = [...value.value].map(([key, item]): [string, RuntimeValue] => [
    marks.plain(key),
    item,
  ]);
  return objectValue(new Map(entries));
}

/** A function that knows nothing of marks. */
function withPlainTexts(call: object, marks: TemplateMarks): (...args: unknown[]) => unknown {
  return (...args) =>
    (call as (...args: unknown[]) => unknown)(
      ...args.map((one) => (typeof one === 'string' ? marks.plain(one) : one)),
    );
}
