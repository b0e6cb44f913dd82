import { membersOf, type Schema } from './schema-shape.js';

const mostElements = 4096;

/** Keywords of objects that rules hold which write only what is declared. */
export function heldOfObject(schema: Schema): string[] {
  const members = membersOf(schema);
  const required = members.filter(({ isRequired }) => isRequired).length;
  const { minProperties, maxProperties, additionalProperties } = schema;
  // A name that is free may be another one's again.
  const isFree = members.length === 0 && additionalProperties !== false;
  const isHeld: Readonly<Record<string, boolean>> = {
    properties: true,
    required: true,
    additionalProperties: true,
    unevaluatedProperties: !isFree,
    minProperties: typeof minProperties === 'number' && minProperties <= required,
    maxProperties: typeof maxProperties === 'number' && !isFree && members.length <= maxProperties,
  };
  return Object.keys(isHeld).filter((keyword) => isHeld[keyword]);
}

/** Keywords of arrays that rules hold. */
export function heldOfArray({ minItems, maxItems, items }: Schema): string[] {
  const isCount = (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostElements;
  const [least, most] = [Number(minItems ?? 0), Number(maxItems ?? mostElements)];
  return [
    ...['items', 'prefixItems'],
    ...(isCount(minItems) && least <= most ? ['minItems'] : []),
    ...(isCount(maxItems) && least <= most ? ['maxItems'] : []),
    // Without a list of schemas it says nothing.
    ...(Array.isArray(items) ? [] : ['additionalItems']),
  ];
}
