package playbook

import (
	"moon/plan/playbook/node"
	"moon/plan/playbook/yaml11"
)

// AsPlays gives the numbers of a value the meaning that plays have for them, which is YAML 1.1's. The library reads 1.2.
func (v Value) AsPlays() Value {
	if v.node != nil {
		readNumbers(v.node)
	}
	return v
}

func readNumbers(n *node.Node) {
	for _, inner := range n.Content { // an alias leads to what is read elsewhere
		readNumbers(inner)
	}
	if n.Kind != node.Scalar || !n.IsPlain() || n.Has(node.Encrypted|node.Unsafe) {
		return
	}
	number, ok := yaml11.Number(n.Value)
	switch {
	case n.Tag == node.Str && ok:
		n.Tag = map[bool]node.Tag{true: node.Int, false: node.Float}[isWhole(number)]
		n.Old = true
	case (n.Tag == node.Int || n.Tag == node.Float) && !yaml11.IsNumber(n.Value):
		n.Tag = node.Str
	}
}

func isWhole(number any) bool {
	_, is := number.(int)
	return is
}
