/** A range of a buffer. */
export interface Part {
  readonly byteOffset: number;
  readonly bytes: number;
}

/** The token of a view: that of its memory, and where in it. */
export function partToken(token: string, { byteOffset, bytes }: Part): string {
  return `${token}${mark}${byteOffset}+${bytes}`;
}

/** What `partToken` put together; without a part for the token of a whole object. */
export function splitToken(token: string): { readonly native: string; readonly part?: Part } {
  const [, native, byteOffset, bytes] = form.exec(token) ?? [];
  if (native === undefined) return { native: token };
  return { native, part: { byteOffset: Number(byteOffset), bytes: Number(bytes) } };
}

const mark = '@';
const form = /^(.*)@(\d+)\+(\d+)$/;
