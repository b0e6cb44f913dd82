import type { Command } from 'commander';
import { flag, pathPrefix } from '../config/flags/flag.js';
import { apiDocument } from '../openai/api-document.js';

/** `altstream openapi`: the API as a document, without a server. */
export function addOpenapiCommand(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document that a server has at /openapi.json')
    .addOption(flag('--root-path <path>', 'of a proxy in front').argParser(pathPrefix))
    .action(({ rootPath = '' }: { rootPath?: string }) => {
      process.stdout.write(`${JSON.stringify(apiDocument(rootPath), null, 2)}\n`);
    });
}
