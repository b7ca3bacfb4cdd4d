import { gutterColumn, headerRow, type Model } from './model.svelte.ts'
import { clear } from './transfer.ts'
import { tick as tickRow } from './ticks.ts'

/** What a key may ask of the parts of the grid that are not the model. */
interface Asks {
  /** Opens the menu of the active cell or header. */
  menu(): void
  /** Opens the sort order that follows for the column. */
  sort(column: number, add: boolean): void
  resize(column: number, by: number): void
  moveColumn(column: number, by: number): void
}

/** Keys by the WAI-ARIA grid pattern and the habits of spreadsheets. Answers whether the key was one of them. */
export function press(model: Model, event: KeyboardEvent, asks: Asks): boolean {
  const { row, column } = model.active
  const command = event.ctrlKey || event.metaKey
  const shift = event.shiftKey
  const page = Math.max(1, Math.floor(model.scroller.view / model.rowHeight) - 1)
  const lastRow = model.rowCount - 1
  const lastColumn = model.columns.length - 1
  const go = (r: number, c: number) => void model.go(r, c, shift && row >= 0)

  if (row === headerRow && pressHeader(event, column, asks)) return true
  switch (event.key) {
    case 'ArrowUp':
      go(command ? 0 : row - 1, column)
      return true
    case 'ArrowDown':
      go(command ? lastRow : row + 1, column)
      return true
    case 'ArrowLeft':
      go(row, command ? 0 : column - 1)
      return true
    case 'ArrowRight':
      go(row, command ? lastColumn : column + 1)
      return true
    case 'Home':
      go(command ? 0 : row, 0)
      return true
    case 'End':
      go(command ? lastRow : row, lastColumn)
      return true
    case 'PageUp':
      go(Math.max(0, row - page), column)
      return true
    case 'PageDown':
      go(Math.min(lastRow, row + page), column)
      return true
    case 'ContextMenu':
      asks.menu()
      return true
    case 'F10':
      if (shift) asks.menu()
      return shift
    case 'Escape':
      if (!model.hasRange) return false
      void model.go(row, column)
      return true
  }
  if (command) return pressCommand(model, event)
  if (row < 0) return false
  switch (event.key) {
    case 'Enter':
    case 'F2':
      if (shift && event.key === 'Enter') {
        const { id, loaded } = model.shown(row)
        if (id !== null && Array.isArray(loaded)) model.given.onopen?.(id)
      } else if (column === gutterColumn) tickRow(model, row, shift)
      else model.edit()
      return true
    case ' ':
      tickRow(model, row, shift)
      return true
    case 'Delete':
    case 'Backspace':
      void clear(model)
      return true
  }
  if (event.key.length === 1 && !event.altKey && !event.isComposing && column >= 0) {
    model.edit(event.key)
    return true
  }
  return false
}

function pressHeader(event: KeyboardEvent, column: number, asks: Asks): boolean {
  if (column < 0) return false
  const command = event.ctrlKey || event.metaKey
  switch (event.key) {
    case 'Enter':
    case ' ':
      asks.sort(column, event.shiftKey)
      return true
    case 'ArrowLeft':
    case 'ArrowRight': {
      const by = event.key === 'ArrowLeft' ? -1 : 1
      if (command && event.shiftKey) asks.moveColumn(column, by)
      else if (event.shiftKey) asks.resize(column, by * 8)
      else return false
      return true
    }
    case 'ArrowDown':
      if (!event.altKey) return false
      asks.menu()
      return true
  }
  return false
}

function pressCommand(model: Model, event: KeyboardEvent): boolean {
  switch (event.key.toLowerCase()) {
    case 'a':
      model.anchor = { row: 0, column: 0 }
      model.active = { row: model.rowCount - 1, column: model.columns.length - 1 }
      model.say('All cells selected')
      // The view stays where it is: the last cell is drawn wherever it is.
      void model.focus()
      return true
    case 'enter':
    case 's':
      void model.save()
      return true
    case 'z':
      if (event.shiftKey) model.redo()
      else model.undo()
      return true
    case 'y':
      model.redo()
      return true
  }
  return false
}
