// What root and hubs must agree on about subnets.

/** The sid of a member's way to the hub of its subnet. No browser can have it: theirs have 32 characters and no dot. */
export const memberSid = (hubId: string): string => `member.${hubId}`;
