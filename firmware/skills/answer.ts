// What a skill is asked, and what it answers.
import { queryPath } from './screen-topics.ts';

export interface SkillRequest {
  id: string;
  owner_id: string;
  method: string;
  path: string;
  /** Of the request's, those a skill may know. */
  headers?: Record<string, string>;
  body: Uint8Array;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Whether a request is done once by its id; what changes nothing is simply done again. @param path without a query */
export const isRemembered = ({ method, path }: Pick<SkillRequest, 'method' | 'path'>): boolean =>
  method !== 'GET' && path !== queryPath;
