package node

import "moon/plan/playbook/yaml11"

// ReadOldNumbers gives the numbers in a value the meaning that YAML 1.1 has for them.
func (n *Node) ReadOldNumbers() {
	for _, inner := range n.Content { // an alias leads to what is read elsewhere
		inner.ReadOldNumbers()
	}
	if n.Kind != Scalar || !n.IsPlain() || n.Has(Encrypted|Unsafe) {
		return
	}
	number, ok := yaml11.Number(n.Value)
	switch {
	case n.Tag == Str && ok:
		n.Tag = map[bool]Tag{true: Int, false: Float}[isWhole(number)]
		n.Old = true
	case (n.Tag == Int || n.Tag == Float) && !yaml11.IsNumber(n.Value):
		n.Tag = Str
	}
}

func isWhole(number any) bool {
	_, is := number.(int)
	return is
}
