// Where root's API is: the page says it.

/** Origin of root's API; '' where it is the application's own. */
export const root = document.querySelector<HTMLMetaElement>('[name=ingle-root]')?.content ?? '';
