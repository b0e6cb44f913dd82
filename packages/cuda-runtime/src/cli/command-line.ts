/** What `cuda-runtime --help` prints. */
export const usage = `Usage: cuda-runtime <command>

  doctor                what this machine has, and what keeps a backend from working
      --json            the same as JSON
      --backend=NAME    exit code 1 unless this backend (cpu, cuda) is usable; default cpu
  build                 builds the addon on this machine: cmake, a C++20 compiler, CUDA if it is found
      --CDNAME=VALUE    a CMake option, such as --CDCRT_CUDA=ON (needs the CUDA toolkit) or OFF
      --verbose         everything that cmake and the compiler print
  --version, --help
`;

/** `doctor` with its options. */
export interface DoctorLine {
  readonly command: 'doctor';
  readonly json: boolean;
  readonly backend: 'cpu' | 'cuda';
}

/** `build` with its options. */
export interface BuildLine {
  readonly command: 'build';
  readonly verbose: boolean;
  /** CMake options by name. */
  readonly options: Readonly<Record<string, string>>;
}

/** What the arguments ask for. */
export type CommandLine = DoctorLine | BuildLine | { readonly command: 'help' | 'version' };

/** Ends the command with one message instead of a stack. */
export class CommandError extends Error {
  /** 1: it was tried and failed; 2: the arguments are wrong. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** @throws CommandError for a command or an option that is not known */
export function parseCommandLine(args: readonly string[]): CommandLine {
  if (args.includes('--help') || args.includes('-h') || args[0] === 'help') {
    return { command: 'help' };
  }
  const [command, ...options] = args;
  switch (command) {
    case '--version':
      return { command: 'version' };
    case 'doctor':
      return doctorLine(options);
    case 'build':
      return buildLine(options);
    case undefined:
      throw new CommandError(`no command, expected doctor or build\n\n${usage}`, 2);
    default:
      throw new CommandError(`\`${command}\` is no command, expected doctor or build`, 2);
  }
}

function doctorLine(args: readonly string[]): DoctorLine {
  let json = false;
  let backend: DoctorLine['backend'] = 'cpu';
  for (const arg of args) {
    if (arg === '--json') json = true;
    else if (arg === '--backend=cpu') backend = 'cpu';
    else if (arg === '--backend=cuda') backend = 'cuda';
    else throw unknown('doctor', arg, '--json, --backend=cpu or --backend=cuda');
  }
  return { command: 'doctor', json, backend };
}

function buildLine(args: readonly string[]): BuildLine {
  let verbose = false;
  const options: Record<string, string> = {};
  for (const arg of args) {
    const [, name, value] = /^--CD(\w+)=(.*)$/s.exec(arg) ?? [];
    if (name !== undefined && value !== undefined) options[name] = value;
    else if (arg === '--verbose') verbose = true;
    else throw unknown('build', arg, '--verbose or --CDNAME=VALUE');
  }
  const cuda = options['CRT_CUDA'];
  if (cuda !== undefined && !['AUTO', 'ON', 'OFF'].includes(cuda)) {
    throw new CommandError(`--CDCRT_CUDA is \`${cuda}\`, expected AUTO, ON or OFF`, 2);
  }
  return { command: 'build', verbose, options };
}

function unknown(command: string, arg: string, expected: string): CommandError {
  return new CommandError(`\`${arg}\` is no option of ${command}, expected ${expected}`, 2);
}
