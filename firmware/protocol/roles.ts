// What somebody may be to a hub: its owner, or a person the owner has invited.

export const personRoles = ['admin', 'adult', 'kid', 'guest'] as const;
export type PersonRole = (typeof personRoles)[number];

export const roles = ['owner', ...personRoles] as const;
export type Role = (typeof roles)[number];

/** `member`: nobody, but another hub of the subnet; only what is declared for it is open to it. */
export type CallerRole = Role | 'member';
