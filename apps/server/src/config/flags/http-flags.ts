import type { Command } from 'commander';
import { flag, natural, pathPrefix, port, positive } from './flag.js';

/** Where and to whom the server answers. */
export function addHttpFlags(command: Command): void {
  command
    .addOption(flag('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(
      flag('--port <port>', 'port to listen on; 0 = any free one').argParser(port).default(8000),
    )
    .addOption(flag('--uds <path>', 'listen on this Unix socket, not on a port'))
    .addOption(
      flag('--root-path <path>', 'of a proxy, which may pass it on or take it off').argParser(
        pathPrefix,
      ),
    )
    .addOption(flag('--api-key <keys...>', 'keys of which requests must carry one'))
    .addOption(flag('--api-key-file <file>', 'keys, one a line; others may not be able to read it'))
    .addOption(
      flag('--admin-api-key <keys...>', 'keys that open every route, also those of the operator'),
    )
    .addOption(flag('--allow-unauthenticated', 'listen beyond loopback without a key'));
  addTlsFlags(command);
  addSiteFlags(command);
  addStreamFlags(command);
}

function addTlsFlags(command: Command): void {
  command
    .addOption(flag('--ssl-certfile <file>', 'PEM of the certificate and its chain; serves HTTPS'))
    .addOption(flag('--ssl-keyfile <file>', 'PEM of the certificate’s key'))
    .addOption(flag('--ssl-ca-certs <file>', 'PEM of the authorities whose clients are trusted'))
    .addOption(
      flag('--ssl-cert-reqs <n>', 'certificates of clients: 0 none, 1 checked if there, 2 wanted')
        .choices(['0', '1', '2'])
        .default('0'),
    );
}

/** Which pages there are, and which others may use the server. */
function addSiteFlags(command: Command): void {
  command
    .addOption(flag('--allowed-origins <origins...>', 'other sites whose pages may use the server'))
    .addOption(
      flag(
        '--allowed-hosts <names...>',
        'names of the server; on loopback beside those of loopback',
      ),
    )
    .addOption(flag('--profile-dir <dir>', 'folder where the operator’s profiles are written'))
    .addOption(flag('--disable-ui', 'no web pages at /ui'))
    .addOption(flag('--disable-docs', 'no /docs and no /openapi.json'))
    .addOption(
      flag('--metrics-auth <who>', 'who may read /metrics once there is a key')
        .choices(['key', 'open', 'admin'])
        .default('key'),
    )
    .addOption(
      flag('--metrics-alias <server>', 'metrics also under the names of that server').choices([
        'sglang',
      ]),
    );
}

/** How long and how much; times are seconds. */
function addStreamFlags(command: Command): void {
  command
    .addOption(
      flag('--max-body-size <bytes>', 'largest request body')
        .argParser(positive)
        .default(32 * 2 ** 20),
    )
    .addOption(
      flag('--sse-keep-alive-interval <s>', 'seconds between comments on a silent stream; 0 = none')
        .argParser(natural)
        .default(15),
    )
    .addOption(
      flag('--client-stall-timeout <s>', 'seconds that a client may read nothing; 0 = any time')
        .argParser(natural)
        .default(60),
    )
    .addOption(
      flag('--stream-interval <n>', 'tokens that a stream sends together, but for the first')
        .argParser(positive)
        .default(1),
    )
    .addOption(
      flag(
        '--watchdog-timeout <s>',
        'seconds without a step after which a busy engine is dead; 0 = never',
      )
        .argParser(natural)
        .default(300),
    )
    .addOption(
      flag('--shutdown-timeout <s>', 'seconds that running requests get after SIGTERM')
        .argParser(natural)
        .default(30),
    );
}
