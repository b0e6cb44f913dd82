/** What the grammar library does not enforce, so that an answer could break the schema. */
export const unsupportedKeywords = [
  'not',
  'if',
  'then',
  'else',
  'multipleOf',
  'contains',
  'minContains',
  'maxContains',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  'additionalItems',
  '$dynamicRef',
  '$recursiveRef',
] as const;

/** Keywords that say something of values of one type only. */
const keywordsOfTypes = {
  string: ['pattern', 'minLength', 'maxLength', 'format'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'unevaluatedProperties',
  ],
};
const constraints: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...Object.values(keywordsOfTypes).flat(),
  ...unsupportedKeywords,
]);

/** Keywords of numbers. */
const numberKeywords = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];
/** Keywords that no library enforces, by the type of which they say something. */
const moreOfTypes: Readonly<Record<string, readonly string[]>> = {
  number: numberKeywords,
  array: ['contains', 'minContains', 'maxContains', 'unevaluatedItems', 'additionalItems'],
  object: ['dependentRequired', 'dependentSchemas', 'dependencies'],
};
const ownerOf: ReadonlyMap<string, string> = new Map(
  [...Object.entries(keywordsOfTypes), ...Object.entries(moreOfTypes)].flatMap(([type, keywords]) =>
    keywords.map((keyword): [string, string] => [keyword, type]),
  ),
);

/** All keywords that forbid something. */
export const constraintKeywords: readonly string[] = [...constraints];

/** The type of value that a keyword says something of; undefined = any. */
export function typeOfKeyword(keyword: string): string | undefined {
  return ownerOf.get(keyword);
}

/** Formats that the library enforces. */
export const formats: readonly string[] = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'uri',
  'uri-reference',
  'uri-template',
  'json-pointer',
  'relative-json-pointer',
];

/** Whether a keyword forbids anything; all others are notes, as JSON schema has it. */
export function isConstraint(keyword: string): boolean {
  return constraints.has(keyword);
}

/** The types that a schema's keywords are about. */
export function typesOfKeywords(schema: object): string[] {
  return Object.entries(keywordsOfTypes).flatMap(([type, keywords]) =>
    keywords.some((keyword) => Object.hasOwn(schema, keyword)) ? [type] : [],
  );
}

/** Whether a value is of a type of JSON schema. */
export function isOfType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
