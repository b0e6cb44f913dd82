// Told apart also by the colour-blind (Okabe and Ito).
const streamColours = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#f0e442', '#0072b2', '#d55e00'];

/** The colour of the n-th stream. */
export function streamColour(index: number): string {
  return streamColours[index % streamColours.length] ?? '#999999';
}

/** Text that is safe inside an XML element or attribute. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** `text` cut to what fits into `width` pixels at 11-pixel type. */
export function clip(text: string, width: number): string {
  const most = Math.floor(width / 6.2);
  if (text.length <= most) return text;
  return most < 3 ? '' : `${text.slice(0, most - 1)}…`;
}
