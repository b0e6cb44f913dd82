/** A piece of a line of text. */
export interface Span {
  readonly kind: 'text' | 'code' | 'strong';
  readonly text: string;
}

/** A part of an answer. */
export type Block =
  | { readonly kind: 'paragraph'; readonly spans: readonly Span[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;

/**
 * The few marks of Markdown that are worth it: fenced code, code and bold within a line, and blank
 * lines. Everything else stays the text that it is. One pass over the lines; a fence that is still
 * open, as in the middle of a stream, holds the rest.
 */
export function parseMarkup(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let open: { readonly mark: string; readonly language: string } | undefined;
  const closeParagraph = (): void => {
    const paragraph = lines.join('\n');
    if (paragraph.trim() !== '') blocks.push({ kind: 'paragraph', spans: spansOf(paragraph) });
    lines = [];
  };
  const closeCode = (language: string): void => {
    blocks.push({ kind: 'code', language, text: lines.join('\n') });
    lines = [];
    open = undefined;
  };
  for (const line of text.split('\n')) {
    if (open) {
      if (line.trim().startsWith(open.mark)) closeCode(open.language);
      else lines.push(line);
      continue;
    }
    const [, mark, language = ''] = fence.exec(line) ?? [];
    if (mark !== undefined || line.trim() === '') closeParagraph();
    if (mark !== undefined) open = { mark, language };
    else if (line.trim() !== '') lines.push(line);
  }
  if (open) closeCode(open.language);
  else closeParagraph();
  return blocks;
}

function spansOf(text: string): readonly Span[] {
  // Neither alternative can match what the other begins, so the search is linear.
  const parts = text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/);
  return parts
    .map((part, index): Span => {
      if (index % 2 === 0) return { kind: 'text', text: part };
      return part.startsWith('`')
        ? { kind: 'code', text: part.slice(1, -1) }
        : { kind: 'strong', text: part.slice(2, -2) };
    })
    .filter(({ text: shown }) => shown !== '');
}
