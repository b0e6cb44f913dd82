import { cpus, totalmem } from 'node:os';
import { probe } from '@altstream/cuda-runtime';
import type { Command } from 'commander';
import { type Finding, findingTable, sizeText } from '../check/finding.js';

/** `altstream doctor`: what this machine has, and what keeps a backend from working. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at this machine: Node, backends, memory')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine();
      process.stdout.write(
        json ? `${JSON.stringify(findings, null, 2)}\n` : findingTable(findings),
      );
      const cpu = findings.find(({ name }) => name === 'backend cpu');
      process.exitCode = cpu?.isGood ? 0 : 1;
    });
}

async function examine(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const backends = (await probe()).map((report) => ({
    name: `backend ${report.backend}`,
    isGood: report.usable,
    detail: report.usable ? report.detail : `${report.reason ?? 'unusable'}: ${report.detail}`,
  }));
  return [
    {
      name: 'node',
      isGood: major > 20 || (major === 20 && minor >= 19),
      detail: `${process.versions.node}, needs 20.19 or newer`,
    },
    {
      name: 'processor',
      isGood: true,
      detail: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    },
    { name: 'memory', isGood: totalmem() > 2 ** 31, detail: sizeText(totalmem()) },
    ...backends,
  ];
}
