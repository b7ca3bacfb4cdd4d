// The code of a request in all languages.
import { curl } from './curl.ts'
import { dart } from './dart.ts'
import { javascript } from './javascript.ts'
import { kotlin } from './kotlin.ts'
import type { CodeLanguage, Request, Server } from './place.ts'
import { python } from './python.ts'
import { swift } from './swift.ts'

const writers: Record<CodeLanguage, (request: Request, server: Server) => string> = { javascript, curl, dart, python, swift, kotlin }

export function code(language: CodeLanguage, request: Request, server: Server): string { return writers[language](request, server) }
