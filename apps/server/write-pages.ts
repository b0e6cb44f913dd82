import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page: `<file>.html` has its main part. */
interface Page {
  readonly file: string;
  readonly title: string;
  /** Entry of its script. */
  readonly script: string;
  /** A link for the keyboard, over all the rest. */
  readonly skip?: string;
}

const pages: readonly Page[] = [
  {
    file: 'index',
    title: 'Playground',
    script: 'chat',
    skip: '<a class="skip" href="#question">To the question</a>',
  },
  { file: 'dashboard', title: 'Dashboard', script: 'dashboard' },
  { file: 'tokenizer', title: 'Tokenizer', script: 'tokenizer' },
];

/**
 * Writes the web pages, each in the frame that all share. @param source folder of their main parts
 */
export function writePages(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const page of pages) {
    const main = readFileSync(join(source, `${page.file}.html`), 'utf8');
    writeFileSync(join(target, `${page.file}.html`), framed(page, main));
  }
}

function framed(page: Page, main: string): string {
  const { title, script, skip } = page;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title} · Altstream</title>
    <link rel="icon" href="icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="style.css" />
    <script type="module" src="${script}.js"></script>
  </head>
  <body>
${skip === undefined ? '' : `    ${skip}\n`}    <header class="top">
      <h1>Altstream</h1>
      <nav aria-label="Pages">
${pages.map((one) => link(one, one === page)).join('\n')}
      </nav>
    </header>
    <p id="banner" class="banner" role="status" hidden></p>
${indented(main)}  </body>
</html>
`;
}

function link({ file, title }: Page, isCurrent: boolean): string {
  const href = file === 'index' ? './' : `${file}.html`;
  return `        <a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${title}</a>`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ');
}
