import { expect, test } from 'vitest';
import { installCommand } from './install-command.js';

test.each([
  ['ID=debian\nVERSION_ID="12"\n', '`apt-get install cmake g++`'],
  ['NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', '`apt-get install cmake g++`'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', '`dnf install cmake gcc-c++ libstdc++-static`'],
  ['ID=alpine\n', '`apk add cmake g++`'],
  ['ID="opensuse-leap"\n', '`zypper install cmake gcc-c++`'],
  ['ID=nixos\n', "the system's packages of cmake, compiler"],
  ['', "the system's packages of cmake, compiler"],
])('on %j it is %s', (release, command) => {
  expect(installCommand(['cmake', 'compiler'], release)).toBe(command);
});
