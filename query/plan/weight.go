package plan

import "basalt/query"

// maxWeight bounds the conditions that a statement may hold. A query string has fewer, but each mention of an embed
// among the conditions repeats the embed's own, so that their numbers multiply.
const maxWeight = 5_000

// bearable refuses a tree of more conditions than that.
func (n *Node) bearable() error {
	if n.weight() > maxWeight {
		return tooComplex()
	}
	return nil
}

// weight counts the conditions in the statement of a node and all that is shown below it.
func (n *Node) weight() int {
	sum := n.conditions()
	for _, e := range n.Embeds {
		if sum > maxWeight {
			break
		}
		sum += e.Node.weight()
	}
	return sum
}

// conditions counts those on the node's own rows, with all that they say about embeds. Once it is beyond maxWeight it
// may be anything beyond.
func (n *Node) conditions() int {
	if n.conditionCount > 0 {
		return n.conditionCount
	}
	sum := 1 + count(n.Where)
	for _, e := range n.Embeds {
		if e.Inner {
			sum += e.Node.conditions()
		}
	}
	n.conditionCount = min(sum, maxWeight+1)
	return n.conditionCount
}

func count(predicates []Predicate) int {
	sum := 0
	for i := range predicates {
		p := &predicates[i]
		switch {
		case sum > maxWeight:
			return sum
		case p.Logic != query.Compare:
			sum += count(p.Children)
		case p.Embed != nil:
			sum += p.Embed.Node.conditions()
		default:
			sum++
		}
	}
	return sum
}
