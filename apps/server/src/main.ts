#!/usr/bin/env node
// The command `altstream`.

import { Command } from 'commander';
import { addBenchCommand } from './cli/bench.js';
import { addChatCommand } from './cli/chat.js';
import { addCheckCommand } from './cli/check.js';
import { addCompleteCommand } from './cli/complete.js';
import { addDoctorCommand } from './cli/doctor.js';
import { addEnvCommand } from './cli/env.js';
import { addEvalCommand } from './cli/eval.js';
import { addInspectCommand } from './cli/inspect.js';
import { addOpenapiCommand } from './cli/openapi.js';
import { addServeCommand } from './cli/serve.js';
import { addTokenizeCommand } from './cli/tokenize.js';
import { exitCodes } from './errors/index.js';
import { serverVersion } from './version.js';

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const program = new Command('altstream')
  .description('MiniMax-M3 for Node.js: shared and routed experts overlap on two streams')
  .version(serverVersion)
  .showSuggestionAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage));

addServeCommand(program);
addChatCommand(program);
addCompleteCommand(program);
addEvalCommand(program);
addBenchCommand(program);
addCheckCommand(program);
addInspectCommand(program);
addDoctorCommand(program);
addTokenizeCommand(program);
addOpenapiCommand(program);
addEnvCommand(program);
for (const command of program.commands) {
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage));
}
await program.parseAsync();
