import type { Command } from 'commander';
import { flag, httpUrl } from './flag.js';

/** What the server tells of itself. */
export function addLogFlags(command: Command): void {
  command
    .addOption(
      flag('--log-level <level>', 'least important line that is shown')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .addOption(
      flag('--log-format <format>', 'pretty on a terminal, else json').choices(['pretty', 'json']),
    )
    .addOption(
      flag('--crash-dir <dir>', 'folder of crash reports (default: that of temporary files)'),
    )
    .addOption(flag('--disable-log-requests', 'no line for each request'))
    .addOption(flag('--log-content', 'PROMPTS AND ANSWERS are written to the log'))
    .addOption(
      flag('--otlp-traces-endpoint <url>', 'collector that gets a span of each request').argParser(
        httpUrl,
      ),
    )
    .addOption(flag('--otel-capture-content', 'PROMPTS AND ANSWERS are in the spans, too'))
    .addOption(flag('--disable-log-stats', 'no line every ten seconds while there is work'))
    .addOption(
      flag('--enable-per-request-metrics', 'answers carry the times and speeds of their request'),
    );
}
