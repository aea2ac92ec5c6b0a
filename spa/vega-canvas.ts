// What Vega measures texts with where there is no page, so that they are as wide as the page draws them. It asks for it while
// it is loaded, and estimates where there is none.
if (typeof OffscreenCanvas !== 'undefined')
  Object.assign(globalThis, { document: { createElement: () => new OffscreenCanvas(1, 1) } });
