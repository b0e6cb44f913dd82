import { cpSync } from 'node:fs';
import { defineConfig } from 'tsup';
import { writePages } from './write-pages.js';

export default defineConfig([
  {
    entry: [
      'src/index.ts',
      'src/main.ts',
      'src/worker/engine-worker.ts',
      'src/worker/text/text-worker.ts',
      'src/worker/grammar/grammar-worker.ts',
    ],
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    dts: { compilerOptions: { ignoreDeprecations: '6.0', customConditions: [] } },
    sourcemap: true,
    // The pages are written at the same time.
    clean: ['!ui', '!ui/**', '!docs', '!docs/**'],
    removeNodeProtocol: false,
  },
  {
    entry: {
      chat: 'src/ui/chat/chat-page.ts',
      dashboard: 'src/ui/dashboard/dashboard-page.ts',
      tokenizer: 'src/ui/tokenizer/tokenizer-page.ts',
    },
    outDir: 'dist/ui',
    tsconfig: 'src/ui/tsconfig.json',
    format: ['esm'],
    target: 'es2022',
    platform: 'browser',
    // A page brings everything along; nothing is found by a package's name in a browser.
    noExternal: [/./],
    minify: true,
    clean: true,
    onSuccess: async () => {
      for (const file of ['icon.svg', 'style.css'])
        cpSync(`src/ui/pages/${file}`, `dist/ui/${file}`);
      writePages('src/ui/pages', 'dist/ui');
    },
  },
  {
    entry: { 'key-field': 'src/ui/docs/key-field.ts' },
    outDir: 'dist/docs',
    tsconfig: 'src/ui/tsconfig.json',
    // The page at /docs loads no modules.
    format: ['iife'],
    target: 'es2022',
    platform: 'browser',
    noExternal: [/./],
    minify: true,
    clean: true,
  },
]);
