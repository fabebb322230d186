package node

import (
	"gopkg.in/yaml.v3"
)

// Reader makes nodes of the parser's. They are made in slabs, and keys that are written often are one text.
type Reader struct {
	Tags    map[*Node]string // types that YAML itself does not have, as written
	Anchors map[*Node]string // values that aliases may stand for, and their names
	Lines   int              // how many are above the text that was parsed

	slab    []Node
	made    int
	links   []*Node
	words   map[string]string
	aliased map[*yaml.Node]*Node
}

// slabSize is how many nodes are made at a time at most: as many as there are already, so that little is left over in a short file.
const slabSize = 64

// longestWord is how long a key may be that is kept once.
const longestWord = 24

var tags = map[string]Tag{
	"!!null": Null, "!!bool": Bool, "!!int": Int, "!!float": Float, "!!str": Str, "!!seq": Seq, "!!map": Mapping, "!!merge": Merge,
}

var kinds = map[yaml.Kind]Kind{yaml.ScalarNode: Scalar, yaml.SequenceNode: List, yaml.MappingNode: Map, yaml.AliasNode: Alias}

// marks are those of the parser's styles.
var marks = []struct {
	of   yaml.Style
	mark Mark
}{
	{yaml.FlowStyle, Flow},
	{yaml.TaggedStyle, Tagged},
	{yaml.DoubleQuotedStyle, DoubleQuoted},
	{yaml.SingleQuotedStyle, SingleQuoted},
	{yaml.LiteralStyle, Literal},
	{yaml.FoldedStyle, Folded},
}

// Read makes a node of one of the parser's, with all that is in it.
func (r *Reader) Read(y *yaml.Node) *Node {
	if n, ok := r.aliased[y]; ok {
		return n // an alias may lead to what it is part of
	}
	n := r.newNode()
	n.Kind, n.Value = kinds[y.Kind], y.Value
	n.Place(y.Line+r.Lines, y.Column)
	for _, m := range marks {
		if y.Style&m.of != 0 {
			n.Mark |= m.mark
		}
	}
	if y.Anchor != "" {
		note(&r.Anchors, n, y.Anchor)
		note(&r.aliased, y, n)
	}
	if n.Kind == Alias {
		n.Target = r.Read(y.Alias)
		return n
	}
	tag := y.ShortTag()
	if n.Tag = tags[tag]; n.Tag == Other {
		note(&r.Tags, n, tag)
	}
	n.Content = r.newLinks(len(y.Content))
	for i, inner := range y.Content {
		n.Content[i] = r.Read(inner)
		if n.Kind == Map && i%2 == 0 {
			r.shareWord(n.Content[i])
		}
	}
	return n
}

// note adds to a map that most documents have no need of.
func note[K comparable, V any](to *map[K]V, k K, v V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[k] = v
}

func (r *Reader) newNode() *Node {
	if len(r.slab) == 0 {
		r.slab = make([]Node, min(max(r.made, 4), slabSize))
		r.made += len(r.slab)
	}
	n := &r.slab[0]
	r.slab = r.slab[1:]
	return n
}

// newLinks is a list of so many nodes, to which nothing can be added in place.
func (r *Reader) newLinks(count int) []*Node {
	if count == 0 {
		return nil
	}
	if count > slabSize {
		return make([]*Node, count)
	}
	if len(r.links) < count {
		r.links = make([]*Node, max(count, min(r.made, slabSize)))
	}
	links := r.links[:count:count]
	r.links = r.links[count:]
	return links
}

// shareWord has a key be the same text as others that read so.
func (r *Reader) shareWord(key *Node) {
	if len(key.Value) > longestWord {
		return
	}
	if word, ok := r.words[key.Value]; ok {
		key.Value = word
		return
	}
	note(&r.words, key.Value, key.Value)
}
