// The editor of SQL, in a chunk of its own. It stands in a shadow root: there its styles are constructed sheets, which the
// policy for content lets be, where elements of style would be refused.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, type CompletionSource } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { PostgreSQL, keywordCompletionSource, sql } from '@codemirror/lang-sql'
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintKeymap, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, Prec, RangeSetBuilder, type Extension } from '@codemirror/state'
import { Decoration, EditorView, ViewPlugin, crosshairCursor, drawSelection, dropCursor, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, placeholder, rectangularSelection, type DecorationSet, type ViewUpdate } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { completions, type Names } from './completion.ts'
import { split, statementAt } from './statements.ts'

/** What is wrong, and where, in UTF-16 units. */
export interface Mistake { from: number, message: string, more: readonly string[] }

export interface Wishes {
  label: string
  /** What stands there while there is no text. */
  placeholder: string
  /** Lines have their numbers beside them. */
  numbered: boolean
  names: () => Names
  changed: (id: string, text: string) => void
  /** The cursor or what is selected has changed. */
  moved?: (from: number, to: number) => void
  /** What can be done with whole statements, where the text consists of such. */
  statements?: { run: (what: 'statement' | 'all') => void, save: () => void }
}

const code = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--code-name)' },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: 'var(--code-comment)', fontStyle: 'italic' },
])

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: 'var(--size-s)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: '0', paddingInlineStart: '8px' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--accent-soft)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--pressed)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--pressed)', outline: '1px solid var(--line-strong)' },
  '.cm-statement': { boxShadow: 'inset 2px 0 0 var(--accent)' },
  '.cm-placeholder': { color: 'var(--text-3)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px', backgroundColor: 'var(--bad-soft)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '6px', boxShadow: 'var(--shadow-2)', overflow: 'hidden', zIndex: '60' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '240px', maxWidth: 'min(480px, 92vw)', minWidth: '200px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', lineHeight: '20px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--pressed)', color: 'var(--text)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { color: 'var(--text-3)', fontStyle: 'normal', marginInlineStart: '12px' },
  '.cm-diagnostic': { padding: '6px 10px', border: '0', borderLeft: '3px solid var(--bad)', maxWidth: 'min(480px, 90vw)', whiteSpace: 'pre-wrap' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)', border: '0' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 32px 6px 8px', fontFamily: 'var(--font)' },
  '.cm-panel.cm-search label': { fontSize: 'var(--size-xs)' },
  '.cm-textfield': { backgroundColor: 'var(--raised)', border: '1px solid var(--line-strong)', borderRadius: '4px', color: 'var(--text)', height: '26px', fontSize: 'var(--size-s)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--raised)', border: '1px solid var(--line-strong)', borderRadius: '4px', color: 'var(--text)', height: '26px', fontSize: 'var(--size-s)' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)', width: '26px', height: '26px', fontSize: '16px' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
})

// Chromium gives what is typed over a selection the look of what it replaces, as an attribute that the policy for content
// refuses: so that is not left to it.
const typedOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { main } = view.state.selection
    if (event.inputType !== 'insertText' || event.isComposing || event.data === null || main.empty) return false
    const text = event.data
    const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true })
    if (!view.state.facet(EditorView.inputHandler).some((handler) => handler(view, main.from, main.to, text, insert))) view.dispatch(insert())
    event.preventDefault()
    return true
  },
})

/** Marks the lines of the statement at the cursor: what "run" means. */
const current = ViewPlugin.fromClass(class {
  decorations: DecorationSet
  constructor(view: EditorView) { this.decorations = this.#mark(view) }
  update(update: ViewUpdate): void {
    if (update.docChanged || update.selectionSet || update.viewportChanged) this.decorations = this.#mark(update.view)
  }

  #mark(view: EditorView): DecorationSet {
    const { doc, selection } = view.state
    const builder = new RangeSetBuilder<Decoration>()
    if (doc.length > 200_000 || !selection.main.empty) return builder.finish()
    const text = doc.toString()
    const statements = split(text)
    const statement = statements.length > 1 ? statementAt(statements, text, selection.main.head) : undefined
    if (!statement) return builder.finish()
    const last = doc.lineAt(statement.end).number
    for (let line = doc.lineAt(statement.start).number; line <= last; line++) builder.add(doc.line(line).from, doc.line(line).from, Decoration.line({ class: 'cm-statement' }))
    return builder.finish()
  }
}, { decorations: (plugin) => plugin.decorations })

export class SqlEditor {
  readonly #view: EditorView
  readonly #states = new Map<string, EditorState>()
  readonly #wishes: Wishes
  readonly #description = document.createElement('div')
  #invalid = false
  #id = ''

  constructor(host: HTMLElement, wishes: Wishes) {
    this.#wishes = wishes
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(':host { display: block; min-width: 0; } div:not([class]) { height: 100%; } *:focus-visible { outline-color: var(--focus); }')
    root.adoptedStyleSheets = [sheet]
    this.#description.id = 'description' // nothing outside of the shadow can describe what is inside
    this.#description.hidden = true
    root.append(this.#description)
    this.#view = new EditorView({ parent: root as unknown as Element, root, state: EditorState.create({ extensions: [] }) })
  }

  get text(): string { return this.#view.state.doc.toString() }

  /** Says what readers of the screen are told about the text, and whether it was refused. */
  describe(description: string, invalid: boolean): void {
    this.#description.textContent = description
    this.#invalid = invalid
    this.#view.dispatch({}) // the attributes are read anew
  }

  /** Shows a text of its own history, cursor and undoing. */
  show(id: string, text: string): void {
    if (this.#id) this.#states.set(this.#id, this.#view.state)
    this.#id = id
    let state = this.#states.get(id)
    if (!state || state.doc.toString() !== text) state = EditorState.create({ doc: text, selection: { anchor: text.length }, extensions: this.#extensions(id) })
    this.#view.setState(state)
    this.#told()
  }

  /** Puts a text in place of what is there, or at the cursor; it can be undone. */
  insert(text: string, everything = false): void {
    const { main } = this.#view.state.selection
    const range = everything ? { from: 0, to: this.#view.state.doc.length } : { from: main.from, to: main.to }
    this.#view.dispatch({ changes: { ...range, insert: text }, selection: { anchor: range.from + text.length }, scrollIntoView: true })
  }

  forget(id: string): void { this.#states.delete(id) }

  focus(): void { this.#view.focus() }

  /** Marks where a statement is wrong, from there to the end of the word. */
  mark(mistake: Mistake | undefined): void {
    const { state } = this.#view
    if (!mistake) return this.#view.dispatch(setDiagnostics(state, []))
    const from = Math.min(mistake.from, state.doc.length)
    const word = /^("[^"]*"|'[^']*'|[\w$\u0080-\uffff]+|.)/u.exec(state.doc.sliceString(from, from + 200))
    const to = Math.min(state.doc.length, from + (word?.[0].length ?? 0))
    this.#view.dispatch(setDiagnostics(state, [{ from: from === to ? Math.max(0, from - 1) : from, to, severity: 'error', message: [mistake.message, ...mistake.more].join('\n') }]))
  }

  /** Puts the cursor at a place and shows it. */
  go(from: number, to = from): void {
    const { length } = this.#view.state.doc
    this.#view.dispatch({ selection: { anchor: Math.min(from, length), head: Math.min(to, length) }, scrollIntoView: true })
    this.#view.focus()
  }

  destroy(): void { this.#view.destroy() }

  #told(): void {
    const { main } = this.#view.state.selection
    this.#wishes.moved?.(main.from, main.to)
  }

  #extensions(id: string): Extension {
    const wishes = this.#wishes
    const whole = wishes.statements
    const run = (what: 'statement' | 'all') => () => { whole?.run(what); return true }
    const own: CompletionSource = (context) => completions(context, wishes.names())
    return [
      Prec.highest(keymap.of([
        ...whole ? [
          { key: 'Mod-Shift-Enter', run: run('all') },
          { key: 'Mod-Enter', run: run('statement') },
          { key: 'Mod-s', run: () => { whole.save(); return true } },
        ] : [],
        // Proposals that have just opened are not taken yet. Without any Tab leaves: nobody is caught in here.
        { key: 'Tab', run: (view) => acceptCompletion(view) || completionStatus(view.state) === 'active' },
      ])),
      wishes.numbered ? [lineNumbers(), highlightActiveLineGutter()] : [],
      highlightSpecialChars(), history(), drawSelection(), dropCursor(), rectangularSelection(), crosshairCursor(),
      indentOnInput(), bracketMatching(), closeBrackets(), highlightSelectionMatches({ minSelectionLength: 3 }), search({ top: true }), whole ? current : [], typedOver,
      sql({ dialect: PostgreSQL }).language,
      autocompletion({ override: [own, keywordCompletionSource(PostgreSQL)], icons: false, maxRenderedOptions: 60 }),
      syntaxHighlighting(code), look,
      matchMedia('(max-width: 767px)').matches ? EditorView.lineWrapping : [],
      placeholder(wishes.placeholder),
      EditorState.tabSize.of(2),
      EditorView.contentAttributes.of(() => ({
        'aria-label': wishes.label, tabindex: '0', spellcheck: 'false', autocapitalize: 'off',
        ...this.#description.textContent ? { 'aria-describedby': this.#description.id } : {}, ...this.#invalid ? { 'aria-invalid': 'true' } : {},
      })),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) wishes.changed(id, update.state.doc.toString())
        if (update.docChanged || update.selectionSet) this.#told()
      }),
    ]
  }
}
