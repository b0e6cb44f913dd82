/** What a reference such as `#/$defs/a%20b` leads to in a document; undefined where to nothing. */
export function resolvePointer(root: unknown, reference: string): unknown {
  let value = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decoded(part)?.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null) return undefined;
    if (key === undefined || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** Undefined for what is no text in percents, such as `%` alone. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
