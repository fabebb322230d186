package node

// Keys finds where a map has a key first. Most maps have few keys, which are compared faster than they are hashed.
type Keys struct {
	of    *Node
	index map[string]int // of a map with many
	done  int            // how much of the map is in it
}

// NewKeys looks through a map.
func NewKeys(of *Node) *Keys { return &Keys{of: of} }

// manyKeys is how many keys are compared at most.
const manyKeys = 16

// Find is where in the content of the map the key is, among what comes before a place there. A merge is not a key.
func (k *Keys) Find(key string, before int) (int, bool) {
	if before/2 <= manyKeys {
		for i := 0; i < before; i += 2 {
			if name, ok := keyText(k.of.Content[i]); ok && name == key {
				return i, true
			}
		}
		return 0, false
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	for ; k.done < before; k.done += 2 {
		name, ok := keyText(k.of.Content[k.done])
		if _, known := k.index[name]; ok && !known {
			k.index[name] = k.done
		}
	}
	at, ok := k.index[key]
	return at, ok
}

func keyText(n *Node) (string, bool) {
	if n.Kind == Alias {
		n = n.Target
	}
	return n.Value, n.Kind == Scalar && n.Tag != Merge
}
