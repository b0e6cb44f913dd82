import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, freemem, platform, release, totalmem } from 'node:os';
import { type BackendReport, probe } from '@altstream/cuda-runtime';
import { allVariables } from '../config/environment.js';
import { serverVersion } from '../version.js';
import { plainReason } from './plain-reason.js';
import { shownVariables } from './shown-variables.js';

/** What a report of a fault should say of the machine and of what is installed. */
export interface MachineFacts {
  readonly server: string;
  /** Versions of what the server is made of; null = not found. */
  readonly packages: Readonly<Record<string, string | null>>;
  readonly node: Readonly<Record<'node' | 'v8' | 'uv' | 'openssl', string>>;
  readonly system: {
    readonly kernel: string;
    readonly distribution: string | null;
    /** A container, as far as that shows. */
    readonly isContainer: boolean;
  };
  readonly processor: {
    readonly model: string;
    /** Those that there are, and those that this process may use. */
    readonly logical: number;
    readonly usable: number;
    /** Instruction sets for which there are kernels, or parts of such. */
    readonly instructions: readonly string[];
  };
  readonly memory: { readonly totalBytes: number; readonly freeBytes: number };
  /** As the runtime finds them. */
  readonly backends: readonly BackendReport[];
  /** Name and version of the NVIDIA driver's module; null = none is loaded. */
  readonly driver: string | null;
  readonly variables: Readonly<Record<string, string>>;
}

const packages = [
  ...['@altstream/cuda-runtime', '@altstream/engine', '@altstream/minimax-m3-chat'],
  ...['@altstream/minimax-m3-model', '@altstream/minimax-m3-tiny', 'fastify'],
  ...['@mlc-ai/web-xgrammar', 'zod'],
];
const instructions = /^(avx2|fma|f16c|avx512(f|bw|vl|_bf16|_vnni)|amx_(tile|bf16|int8))$/;

/** Looks at this machine; it starts no model and asks nobody else. */
export async function machineFacts(): Promise<MachineFacts> {
  const { node = '', v8 = '', uv = '', openssl = '' } = process.versions;
  return {
    server: serverVersion,
    packages: Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
    node: { node, v8, uv, openssl },
    system: {
      kernel: `${platform()} ${release()} ${arch()}`,
      distribution: distribution(),
      isContainer: isContainer(),
    },
    processor: {
      model: cpus()[0]?.model.trim() ?? 'unknown',
      logical: cpus().length,
      usable: availableParallelism(),
      instructions: instructionSets(),
    },
    memory: { totalBytes: totalmem(), freeBytes: freemem() },
    backends: await backends(),
    driver: firstLine('/proc/driver/nvidia/version'),
    variables: shownVariables(allVariables()),
  };
}

async function backends(): Promise<BackendReport[]> {
  const reports = await probe();
  return reports.map((report) => ({
    ...report,
    detail: plainReason(report.detail, allVariables()),
  }));
}

function versionOf(name: string): string | null {
  const require = createRequire(import.meta.url);
  const folders = require.resolve.paths(name) ?? [];
  for (const folder of folders) {
    const manifest = read(`${folder}/${name}/package.json`);
    if (manifest !== undefined) return (JSON.parse(manifest) as { version: string }).version;
  }
  return null;
}

function distribution(): string | null {
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(read('/etc/os-release') ?? '')?.[1] ?? null;
}

function isContainer(): boolean {
  const marks = ['/.dockerenv', '/run/.containerenv'];
  return (
    marks.some((path) => statSync(path, { throwIfNoEntry: false }) !== undefined) ||
    allVariables()['KUBERNETES_SERVICE_HOST'] !== undefined
  );
}

function instructionSets(): string[] {
  const flags = /^flags\s*:\s*(.*)$/m.exec(read('/proc/cpuinfo') ?? '')?.[1] ?? '';
  return flags.split(' ').filter((flag) => instructions.test(flag));
}

function firstLine(path: string): string | null {
  return read(path)?.split('\n')[0]?.trim() ?? null;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
