/** Who may use a route: everybody, whoever has a key, or whoever has the admin key. */
export type Access = 'open' | 'key' | 'admin';
