import { Environment } from '@huggingface/jinja';

/** A value of the template library, which names its classes to nobody. */
export interface RuntimeValue {
  readonly type: string;
  readonly value: unknown;
  readonly builtins: ReadonlyMap<string, RuntimeValue>;
}

/** A text of a template. */
export interface StringValue extends RuntimeValue {
  readonly value: string;
}

/** A list of a template. */
export interface ArrayValue extends RuntimeValue {
  readonly value: readonly RuntimeValue[];
}

/** A mapping of a template. */
export interface ObjectValue extends RuntimeValue {
  readonly value: ReadonlyMap<string, RuntimeValue>;
}

/** A macro, a method, or a function that the template was given. */
export interface FunctionValue extends RuntimeValue {
  value: (args: RuntimeValue[], scope: Environment) => RuntimeValue;
}

type MakerOf<Value extends RuntimeValue> = new (value: Value['value']) => Value;

const classes = new Environment();
const classOf = <Value extends RuntimeValue>(name: string, example: unknown): MakerOf<Value> =>
  classes.set(name, example).constructor as unknown as MakerOf<Value>;
const StringClass = classOf<StringValue>('text', '');
const ArrayClass = classOf<ArrayValue>('list', []);
const ObjectClass = classOf<ObjectValue>('mapping', {});
const FunctionClass = classOf<FunctionValue>('function', () => null);

/** A new text. */
export function stringValue(text: string): StringValue {
  return new StringClass(text);
}

/** A new list. */
export function arrayValue(items: readonly RuntimeValue[]): ArrayValue {
  return new ArrayClass(items);
}

/** A new mapping. */
export function objectValue(entries: ReadonlyMap<string, RuntimeValue>): ObjectValue {
  return new ObjectClass(entries);
}

/** A new function. */
export function functionValue(call: FunctionValue['value']): FunctionValue {
  return new FunctionClass(call);
}

/** True for a text. */
export function isString(value: RuntimeValue | undefined): value is StringValue {
  return value instanceof StringClass;
}

/** True for a list or a tuple. */
export function isArray(value: RuntimeValue): value is ArrayValue {
  return value instanceof ArrayClass;
}

/** True for a mapping. */
export function isObject(value: RuntimeValue): value is ObjectValue {
  return value instanceof ObjectClass;
}

/** True for anything that can be called. */
export function isFunction(value: RuntimeValue | undefined): value is FunctionValue {
  return value instanceof FunctionClass;
}
