/** A text as one word of a POSIX shell. */
export function word(text: string): string { return `'${text.replaceAll("'", `'\\''`)}'` }
