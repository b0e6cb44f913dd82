import type { Command } from 'commander';
import { sizeText } from '../check/finding.js';
import { counted } from '../client/counted.js';
import { printable } from '../client/printable.js';
import { type MachineFacts, machineFacts } from '../machine/machine-facts.js';

/** `altstream env`: what a report of a fault should say of the machine; no keys and no texts. */
export function addEnvCommand(program: Command): void {
  program
    .command('env')
    .description('print what a report of a fault should say: versions, machine, backends, settings')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const facts = await machineFacts();
      const text = json ? `${JSON.stringify(facts, null, 2)}\n` : printable(textOf(facts));
      process.stdout.write(text);
    });
}

function textOf(facts: MachineFacts): string {
  const { server, packages, node, system, processor, memory, backends, driver, variables } = facts;
  const versions = Object.entries(packages).map(
    ([name, version]) => [name, version ?? 'not found'] as const,
  );
  return [
    section('versions', [['@altstream/server', server], ...versions, ...Object.entries(node)]),
    section('machine', [
      ['kernel', system.kernel],
      ['distribution', system.distribution ?? 'unknown'],
      ['container', system.isContainer ? 'yes' : 'no'],
      ['processor', `${processor.usable} of ${processor.logical} × ${processor.model}`],
      ['instructions', processor.instructions.join(' ') || 'unknown'],
      ['memory', `${sizeText(memory.totalBytes)}, ${sizeText(memory.freeBytes)} free`],
      ['NVIDIA driver', driver ?? 'none is loaded'],
    ]),
    section('backends', backends.map(backendLine)),
    section('variables', Object.entries(variables)),
  ].join('\n');
}

function backendLine(report: MachineFacts['backends'][number]): readonly [string, string] {
  const { backend, usable, reason, detail, driverVersion, runtimeVersion, devices } = report;
  const facts = [
    usable ? detail : `${reason ?? 'unusable'}: ${detail}`,
    ...(driverVersion === undefined ? [] : [`driver ${driverVersion}`]),
    ...(runtimeVersion === undefined ? [] : [`runtime ${runtimeVersion}`]),
    ...(devices === undefined ? [] : [counted(devices, 'device')]),
    ...(report.libc === undefined ? [] : [report.libc]),
  ];
  return [backend, facts.join(', ')];
}

function section(title: string, lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  const rows = lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`);
  return `${title}\n${rows.join('') || '  none\n'}`;
}
