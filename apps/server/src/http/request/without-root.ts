/**
 * The URL as routes know it: behind a proxy whose path is passed on, that path is taken off. A path
 * that only begins with the same letters is another one.
 */
export function withoutRoot(url: string, root: string): string {
  if (root === '' || !url.startsWith(root)) return url;
  const rest = url.slice(root.length);
  if (rest === '') return '/';
  if (rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}
