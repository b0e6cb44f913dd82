/** Text of a user's in a message: as it is, or its beginning. */
export function shorten(text: string, mostCharacters = 120): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}…`;
}

/** The same for what is told by its beginning and its end, such as `name#id`. */
export function cutMiddle(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const end = Math.floor(mostCharacters / 4);
  return `${text.slice(0, mostCharacters - end)}…${text.slice(-end)}`;
}
