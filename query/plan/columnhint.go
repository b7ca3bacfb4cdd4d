package plan

// columnHint follows PostgreSQL's rule for the columns that it proposes: at most three edits and half the letters
// away, and no more than two that are equally near.
func columnHint(source *Source, name string) string {
	const farthest = 3
	best := farthest + 1
	var near []string
	for _, c := range source.Columns {
		d := distance(c.Name, name)
		switch {
		case d > len(name)/2 || d > best || d > farthest:
		case d < best:
			best, near = d, append(near[:0], c.Name)
		default:
			near = append(near, c.Name)
		}
	}
	prefix := `Perhaps you meant to reference the column "` + source.Name + "."
	switch len(near) {
	case 1:
		return prefix + near[0] + `".`
	case 2:
		return prefix + near[0] + `" or the column "` + source.Name + "." + near[1] + `".`
	default:
		return ""
	}
}

// distance is Levenshtein's: the number of letters to insert, delete or replace.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			cost := 1
			if r == s {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
