#!/usr/bin/env node
// The command `altstream`.

import { Command } from 'commander';
import { addChatCommand } from './cli/chat.js';
import { addDoctorCommand } from './cli/doctor.js';
import { addInspectCommand } from './cli/inspect.js';
import { addServeCommand } from './cli/serve.js';
import { exitCodes } from './errors/index.js';
import { serverVersion } from './version.js';

const program = new Command('altstream')
  .description('MiniMax-M3 for Node.js: shared and routed experts overlap on two streams')
  .version(serverVersion)
  .showSuggestionAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage));

addServeCommand(program);
addChatCommand(program);
addInspectCommand(program);
addDoctorCommand(program);
for (const command of program.commands) {
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage));
}
await program.parseAsync();
