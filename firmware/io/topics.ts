// Bus topics that make the hub speak and print. Names only: a console needs no schemas.

export const topics = { speak: 'io.voice.tts.speak', print: 'io.console.print' } as const;
