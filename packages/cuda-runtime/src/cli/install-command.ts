import { readFileSync } from 'node:fs';

/** What `build` needs and a system's package manager has. */
export type SystemPackage = 'cmake' | 'compiler' | 'make';

interface Manager {
  /** Ids in `/etc/os-release`, also of distributions derived from it. */
  readonly systems: readonly string[];
  readonly command: string;
  readonly packages: Readonly<Record<SystemPackage, string>>;
}

const managers: readonly Manager[] = [
  {
    systems: ['debian', 'ubuntu'],
    command: 'apt-get install',
    packages: { cmake: 'cmake', compiler: 'g++', make: 'make' },
  },
  {
    systems: ['fedora', 'rhel', 'centos', 'amzn'],
    command: 'dnf install',
    packages: { cmake: 'cmake', compiler: 'gcc-c++ libstdc++-static', make: 'make' },
  },
  {
    systems: ['alpine'],
    command: 'apk add',
    packages: { cmake: 'cmake', compiler: 'g++', make: 'make' },
  },
  {
    systems: ['arch'],
    command: 'pacman -S',
    packages: { cmake: 'cmake', compiler: 'gcc', make: 'make' },
  },
  {
    systems: ['suse', 'opensuse'],
    command: 'zypper install',
    packages: { cmake: 'cmake', compiler: 'gcc-c++', make: 'make' },
  },
];

/**
 * The command that installs packages on this system; in words on a system that is not known.
 *
 * @param release text of `/etc/os-release`
 */
export function installCommand(wanted: readonly SystemPackage[], release = osRelease()): string {
  const ids = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]+)"?$/gm)].flatMap(([, words = '']) =>
    words.split(' '),
  );
  for (const id of ids) {
    const manager = managers.find(({ systems }) => systems.some((system) => id.startsWith(system)));
    if (!manager) continue;
    return `\`${manager.command} ${wanted.map((name) => manager.packages[name]).join(' ')}\``;
  }
  return `the system's packages of ${wanted.join(', ')}`;
}

function osRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    // Not every system has one; then no command is known.
    return '';
  }
}
