import { expect, test } from 'vitest';
import { parseCommandLine } from './command-line.js';

test.each([
  [['doctor'], { command: 'doctor', json: false, backend: 'cpu' }],
  [['doctor', '--json', '--backend=cuda'], { command: 'doctor', json: true, backend: 'cuda' }],
  [['build', '--verbose'], { command: 'build', verbose: true, options: {} }],
  [
    ['build', '--CDCRT_CUDA=OFF', '--CDCMAKE_CXX_FLAGS=-O0 -DA=1'],
    {
      command: 'build',
      verbose: false,
      options: { CRT_CUDA: 'OFF', CMAKE_CXX_FLAGS: '-O0 -DA=1' },
    },
  ],
  [['--version'], { command: 'version' }],
  [['build', '--help'], { command: 'help' }],
])('%j is understood', (args, line) => {
  expect(parseCommandLine(args)).toEqual(line);
});

test.each([
  [[], /no command, expected doctor or build/],
  [['biuld'], /`biuld` is no command, expected doctor or build/],
  [['doctor', '--jsn'], /`--jsn` is no option of doctor, expected --json/],
  [['build', '--CDCRT_CUDA'], /`--CDCRT_CUDA` is no option of build, expected .*--CDNAME=VALUE/],
  [['build', '--CDCRT_CUDA=yes'], /--CDCRT_CUDA is `yes`, expected AUTO, ON or OFF/],
])('%j is refused with what was expected', (args, message) => {
  expect(() => parseCommandLine(args)).toThrow(message);
});
