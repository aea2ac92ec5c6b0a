// Whether this browser speaks straight with its hub where it can: its own choice, yes by default.
export const directKey = 'ingle.direct';

export function wantsDirect(): boolean {
  try {
    return localStorage.getItem(directKey) !== 'off';
  } catch {
    return true;
  }
}
