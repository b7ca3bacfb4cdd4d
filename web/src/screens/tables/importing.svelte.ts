// Sends a file to a table, and keeps what the server says of it line by line.
import { address } from '../../app/api.ts'
import { session } from '../../app/session.svelte.ts'
import { viewAs } from '../../app/viewas.svelte.ts'
import type { ErrorBody, ImportFinished, ImportLine, RefusedRow, RelationBody } from '../../generated/admin.ts'
import { types, type Decimal, type Delimiter, type Format } from './files.ts'

interface ImportOptions {
  format: Format
  /** Between the fields of CSV. */
  delimiter: Delimiter
  /** Of the numbers of CSV. */
  decimal: Decimal
  /** The column of each field of the file; fields that are not in it are left out. */
  mapping: Record<string, string>
  onConflict: '' | 'skip' | 'update'
  dryRun: boolean
}

const notKnown = 'An import is one transaction: unless it had been completed just then, nothing of it was kept. Look at the table before you try again.'

export class Importing {
  state = $state<'idle' | 'running' | 'ended'>('idle')
  dryRun = $state(false)
  /** The table has columns that take their values from a sequence, which goes on even when nothing is kept. */
  numbered = $state(false)
  /** The share of the file that was sent, from 0 to 1. */
  sent = $state(0)
  /** Rows that the server has taken so far. */
  taken = $state(0)
  refused = $state.raw<readonly RefusedRow[]>([])
  finished = $state.raw<ImportFinished>()
  /** Why the import was ended, as the server or the network says. */
  error = $state.raw<Partial<ErrorBody> & { message: string }>()
  /** The answer was cut, or not waited for: whether rows were kept is not known. */
  unsure = $state(false)
  #request: XMLHttpRequest | undefined

  /** Sends the file. What became of it is in the members. */
  run(relation: RelationBody, body: Blob, options: ImportOptions): Promise<void> {
    this.state = 'running'
    this.dryRun = options.dryRun
    this.numbered = relation.columns.some((column) => column.identity !== '' || column.default?.startsWith('nextval('))
    this.sent = this.taken = 0
    this.refused = []
    this.unsure = false
    this.finished = this.error = undefined
    // XMLHttpRequest tells how much was sent; fetch does not.
    const request = this.#request = new XMLHttpRequest()
    const path = `/import/${encodeURIComponent(relation.schema)}/${encodeURIComponent(relation.name)}`
    request.open('POST', address(path, { format: options.format, delimiter: options.delimiter, decimal: options.decimal, mapping: JSON.stringify(options.mapping), on_conflict: options.onConflict || null, dry_run: options.dryRun }))
    request.setRequestHeader('Content-Type', types[options.format])
    request.setRequestHeader('X-Basalt-Dashboard', '1')
    for (const [name, value] of Object.entries(viewAs.headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => { this.sent = total > 0 ? loaded / total : 0 }
    let read = 0
    const take = (last: boolean) => {
      if (request.status !== 200) return
      const text = request.responseText
      const end = last ? text.length : text.lastIndexOf('\n') + 1
      const refused: RefusedRow[] = []
      for (const line of text.slice(read, end).split('\n')) {
        if (line === '') continue
        const said = lineOf(line)
        if (said?.done !== undefined) this.taken = said.done
        if (said?.refused) refused.push(said.refused)
        if (said?.error) this.error = said.error
        if (said?.finished) this.finished = said.finished
      }
      read = end
      if (refused.length > 0) this.refused = [...this.refused, ...refused]
    }
    request.onprogress = () => take(false)
    return new Promise((resolve) => {
      request.onloadend = () => {
        take(true)
        if (request.status !== 200 && request.status !== 0) this.#refused(request)
        else if (!this.finished) {
          // The server says nothing of an import that was being committed when its database was lost.
          this.unsure = !this.error || !this.#underWay
          this.error ??= { message: 'The connection was cut before the server said what became of the file.' }
          if (this.unsure) this.error = { ...this.error, hint: notKnown }
        }
        if (request.status !== 200 || this.error?.code === 'signed_out') void session.check() // it may be what has ended
        this.state = 'ended'
        resolve()
      }
      request.send(body)
    })
  }

  #refused(request: XMLHttpRequest): void {
    try {
      const body = JSON.parse(request.responseText) as Partial<ErrorBody>
      if (body.message) {
        this.error = { ...body, message: body.message, hint: [body.hint, 'Nothing was kept.'].filter(Boolean).join(' ') }
        return
      }
    } catch {
      // a proxy's page, or nothing
    }
    this.unsure = request.status >= 500 // a proxy may have given up on what goes on behind it
    this.error = { message: `The server answered ${request.status}.`, hint: this.unsure ? notKnown : 'Nothing was kept.' }
  }

  /** Part of the file is certainly still to be sent. A browser may tell of no progress before it has an answer. */
  get #underWay(): boolean { return this.sent > 0 && this.sent < 1 }

  /** Ends the import: nothing of it is kept, unless it was completed just then. */
  stop(): void {
    this.error = { message: 'You stopped the import.', hint: 'Nothing was kept: an import is one transaction.' }
    this.#request?.abort()
  }
}

function lineOf(text: string): ImportLine | undefined {
  try {
    return JSON.parse(text) as ImportLine
  } catch {
    return undefined // the line was cut
  }
}


/** The refused rows as CSV. */
export function refusedCSV(rows: readonly RefusedRow[]): string {
  const quote = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
  const lines = rows.map(({ line, column, code, reason, details }) => [String(line), quote(column ?? ''), quote(code), quote(reason), quote(details ?? '')].join(','))
  return ['line,column,code,reason,details', ...lines].join('\r\n') + '\r\n'
}
