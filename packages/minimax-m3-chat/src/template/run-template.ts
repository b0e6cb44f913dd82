import { Environment, Interpreter, type parse } from '@huggingface/jinja';
import { withPlainArguments } from './filter-arguments.js';
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
import { applyToPlainItems } from './plain-items.js';
import type { TemplateMarks } from './template-marks.js';
import { known, type TemplateNode } from './template-node.js';

/** Calls of macros inside of each other; the library's stack holds more than twice as many. */
const mostMacroDepth = 256;

/** A parsed template. */
export type TemplateProgram = ReturnType<typeof parse>;

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
    if (isString(operand) && strings.hasFilter(name, filter.args)) {
      const [args, options] = interpreter.evaluateArguments(filter.args ?? [], scope);
      const count = options.get('count');
      return strings.call(name, operand, count ? [...args, count] : args, scope);
    }
    const given = strings.readBy(name, operand);
    const node = withPlainArguments(filter, strings, (args) =>
      interpreter.evaluateArguments(args, scope),
    );
    const apply = (one: RuntimeValue): RuntimeValue => library.applyFilter(one, node, scope);
    const result = applyToPlainItems(given, node, { strings, apply });
    return name === 'tojson' && isString(result)
      ? stringValue(marks.escapeLike(result.value))
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
