const [digit2, letters] = ['\\d{2}', 'A-Za-z0-9'];
const day = '(?:0[1-9]|1\\d|2[0-8])';
const leapYear = `(?:${digit2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`;
const date = [
  '\\d{4}-(?:',
  `(?:0[1-9]|1[0-2])-${day}`,
  '|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)',
  `|${leapYear}-02-29`,
].join('');
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const time = `${clock}:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]${clock})`;

const seconds = '\\d{1,9}S';
const minutes = `(?:\\d{1,9}M(?:${seconds})?|${seconds})`;
const hours = `T(?:\\d{1,9}H(?:${minutes})?|${minutes})`;
const days = '\\d{1,9}D';
const months = `\\d{1,9}M(?:${days})?`;
const years = `\\d{1,9}Y(?:${months})?`;

const label = (inner: number): string => `[${letters}](?:[${letters}-]{0,${inner}}[${letters}])?`;
const domain = `${label(22)}(?:\\.${label(22)}){0,9}|${label(61)}(?:\\.${label(61)}){0,2}`;
const mailbox = "[\\w!#$%&'*+/=?^`{|}~-]{1,31}";

const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ipv4 = `${byte}(?:\\.${byte}){3}`;
const group = '[0-9a-fA-F]{1,4}';
const ipv6 = [
  `(?:${group}:){7}${group}`,
  ...[1, 2, 3, 4, 5, 6].map((count) => `(?:${group}:){${count}}(?::${group}){1,${7 - count}}`),
  `:(?::${group}){1,7}`,
  `(?:${group}:){1,7}:`,
  '::',
].join('|');

/** Texts of a format, as patterns for where the library's own formats cannot stand. */
export const formatPatterns: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `(?:${date})T${time}`,
  duration: `P(?:\\d{1,9}W|(?:${years}|${months}|${days})(?:${hours})?|${hours})`,
  email: `${mailbox}(?:\\.${mailbox})?@(?:${domain})`,
  hostname: domain,
  ipv4,
  ipv6,
  uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
};
