/** A line or a layer of bars of a chart. */
export interface ChartSeries {
  label: string
  values: readonly (number | null)[]
  tone: 'accent' | 'info' | 'good' | 'warn' | 'bad'
  /** Fills what is below a line. */
  fill?: boolean
}
