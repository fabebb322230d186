package secret

import "strings"

// matcher finds texts in a stream of bytes, by the algorithm of Aho and Corasick. Node 0 is the root: nothing of any text has
// been read. It never changes once it is made.
//
// Libraries for it exist. None of them says, while bytes are still coming, which of those read so far may yet be the beginning
// of a text, nor marks every byte of texts that overlap, and both are what this is for.
type matcher struct {
	texts []string
	size  int // bytes of all texts

	// Of each node: the longest text that ends there (0: none), the length of what leads there, the node of the longest proper
	// end of that which also begins a text, and the child that most nodes have one of.
	match, depth, fail, child []int32
	char                      []byte
	branches                  map[int32]map[byte]int32 // of nodes with more children
	root                      [256]int32

	pairs [1 << 16 / 64]uint64 // the first two bytes of the texts
	first [256]bool
}

// newMatcher makes a matcher of texts of at least MinLength bytes.
func newMatcher(texts []string) *matcher {
	m := &matcher{texts: texts, size: sizeOf(texts), branches: map[int32]map[byte]int32{}}
	m.node(0)
	for _, text := range texts {
		m.insert(text)
	}
	m.link()
	return m
}

func (m *matcher) node(depth int32) int32 {
	m.match, m.depth, m.fail = append(m.match, 0), append(m.depth, depth), append(m.fail, 0)
	m.child, m.char = append(m.child, 0), append(m.char, 0)
	return int32(len(m.match) - 1)
}

func (m *matcher) insert(text string) {
	at := int32(0)
	for i := range len(text) {
		next := m.goOn(at, text[i])
		if next == 0 {
			next = m.node(int32(i + 1))
			m.connect(at, text[i], next)
		}
		at = next
	}
	m.match[at] = int32(len(text))
	m.first[text[0]] = true
	for _, second := range []byte{text[1], escape} { // a colour may begin within it
		pair := uint(text[0])<<8 | uint(second)
		m.pairs[pair/64] |= 1 << (pair % 64)
	}
}

func (m *matcher) connect(at int32, c byte, next int32) {
	switch {
	case at == 0:
		m.root[c] = next
	case m.child[at] == 0:
		m.child[at], m.char[at] = next, c
	default:
		if m.branches[at] == nil {
			m.branches[at] = map[byte]int32{}
		}
		m.branches[at][c] = next
	}
}

// goOn is the child of a node, or 0.
func (m *matcher) goOn(at int32, c byte) int32 {
	switch {
	case at == 0:
		return m.root[c]
	case m.child[at] != 0 && m.char[at] == c:
		return m.child[at]
	case len(m.branches) > 0:
		return m.branches[at][c]
	}
	return 0
}

// step is the node after one more byte.
func (m *matcher) step(at int32, c byte) int32 {
	for {
		if next := m.goOn(at, c); next != 0 || at == 0 {
			return next
		}
		at = m.fail[at]
	}
}

// link finds where to go on from each node when no child fits, level by level.
func (m *matcher) link() {
	queue := make([]int32, 0, len(m.match))
	for _, n := range m.root {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		// Also what ends here as the tail of a longer path.
		m.match[at] = max(m.match[at], m.match[m.fail[at]])
		children := func(c byte, n int32) {
			m.fail[n] = m.step(m.fail[at], c)
			queue = append(queue, n)
		}
		if m.child[at] != 0 {
			children(m.char[at], m.child[at])
		}
		for c, n := range m.branches[at] {
			children(c, n)
		}
	}
}

// begin is the first place in p, from i on, at which a text may begin; len(p) if there is none.
func begin[T string | []byte](m *matcher, p T, i int) int {
	// Two bytes decide whether anything can begin here: most of a text never reaches the automaton.
	for ; i+1 < len(p); i++ {
		pair := uint(p[i])<<8 | uint(p[i+1])
		if m.pairs[pair/64]&(1<<(pair%64)) != 0 {
			return i
		}
	}
	if i < len(p) && !m.first[p[i]] {
		i++
	}
	return i
}

// in reports whether a text is in another, as it is or between colours.
func (m *matcher) in(text string) bool {
	at := int32(0)
	for i := 0; i < len(text); i++ {
		if at == 0 {
			if i = begin(m, text, i); i == len(text) {
				break
			}
		}
		if at = m.step(at, text[i]); m.match[at] > 0 {
			return true
		}
	}
	return strings.IndexByte(text, escape) >= 0 && m.between(text)
}

// between looks past the sequences of the terminal.
func (m *matcher) between(text string) bool {
	at := int32(0)
	var e sequence
	for i := range len(text) {
		if e.take(text[i]) {
			continue
		}
		if at = m.step(at, text[i]); m.match[at] > 0 {
			return true
		}
	}
	return false
}
