const mostCharacters = 500;

/** What a template says of its failure, in a length that an error may have: it may be any text. */
export function cutReason(reason: string): string {
  if (reason.length <= mostCharacters) return reason;
  // Half of a surrogate pair is no text.
  const head = reason.slice(0, mostCharacters).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}… (${reason.length} characters)`;
}
