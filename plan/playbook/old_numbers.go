package playbook

import (
	"gopkg.in/yaml.v3"

	"moon/plan/playbook/yaml11"
)

// AsPlays gives the numbers of a value the meaning that plays have for them, which is YAML 1.1's. The library reads 1.2.
func (v Value) AsPlays() Value {
	if v.node != nil {
		v.file.readNumbers(v.node)
	}
	return v
}

func (f *File) readNumbers(n *yaml.Node) {
	for _, inner := range n.Content { // an alias leads to what is read elsewhere
		f.readNumbers(inner)
	}
	if n.Kind != yaml.ScalarNode || n.Style != 0 || f.encrypted[n] || f.literal[n] {
		return
	}
	tag := n.ShortTag()
	number, ok := yaml11.Number(n.Value)
	switch {
	case tag == "!!str" && ok:
		n.Tag = map[bool]string{true: "!!int", false: "!!float"}[isWhole(number)]
		if f.numbers == nil {
			f.numbers = map[*yaml.Node]any{}
		}
		f.numbers[n] = number
	case (tag == "!!int" || tag == "!!float") && !yaml11.IsNumber(n.Value):
		n.Tag = "!!str"
	}
}

func isWhole(number any) bool {
	_, is := number.(int)
	return is
}
