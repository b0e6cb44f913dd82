import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addServeFlags } from './serve-flags.js';

it('the help of serve is what it was: whoever changes it sees the change', async () => {
  const command = addServeFlags(new Command('serve'));
  command.configureOutput({ getOutHelpWidth: () => 120 });
  await expect(command.helpInformation()).toMatchFileSnapshot('fixtures/serve-help.txt');
});
