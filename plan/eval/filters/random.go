package filters

import (
	"crypto/sha512"
	"math/big"
	"math/bits"
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Roles spread work over hosts with random(seed=inventory_hostname), such as the minutes of cron jobs. What they got with Ansible must
// not change, so these draw as Python's random.Random does. Without a seed they draw by chance, when a step runs: until then what comes of
// them is not known, or the same files would not give the same plan.

// twister is the generator MT19937 of Matsumoto and Nishimura ("Mersenne Twister", ACM TOMACS 8, 1998), seeded as Python seeds it.
type twister struct {
	state [624]uint32
	at    int
}

// newTwister seeds by an array of words, the way of init_by_array in the authors' version of 2002.
func newTwister(key []uint32) *twister {
	t := &twister{at: 624}
	s := &t.state
	s[0] = 19650218
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	next := func() {
		if i++; i >= len(s) {
			s[0], i = s[len(s)-1], 1
		}
	}
	// Python's seeds may be longer than the state: every word of the key takes part.
	for range max(len(s), len(key)) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		next()
		j = (j + 1) % len(key)
	}
	for range len(s) - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		next()
	}
	// So that the state is not all zeros, as in the original.
	s[0] = 1 << 31
	return t
}

func (t *twister) word() uint32 {
	s := &t.state
	if t.at == len(s) {
		for i := range s {
			y := s[i]&(1<<31) | s[(i+1)%len(s)]&(1<<31-1)
			s[i] = s[(i+397)%len(s)] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		t.at = 0
	}
	y := s[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Below draws a number from 0 to n-1. Numbers of more than 32 bits are made of the lower word first.
func (t *twister) Below(n uint64) uint64 {
	for k := bits.Len64(n); ; {
		var v uint64
		if k <= 32 {
			v = uint64(t.word() >> (32 - k))
		} else {
			v = uint64(t.word())
			v |= uint64(t.word()>>(64-k)) << 32
		}
		// Drawn again instead of taken modulo, as Python does: no number is more likely, and the sequence is the same.
		if v < n {
			return v
		}
	}
}

// NewGenerator is the generator of a seed: a text, or a whole number.
func NewGenerator(seed any) (*twister, error) {
	n := new(big.Int)
	text, isText := seed.(string)
	whole, isNumber := value.NumberOf(seed)
	switch i, isInt := whole.(int); {
	case isText:
		// Version 2 of Python's seed: the text and its digest are one large number.
		sum := sha512.Sum512([]byte(text))
		n.SetBytes(append([]byte(text), sum[:]...))
	case isNumber && isInt:
		// Python ignores the sign.
		n.Abs(n.SetInt64(int64(i)))
	case seed == nil:
		return nil, value.Errorf(value.TypeError, jinja.SeedHint, jinja.Unseeded)
	default:
		return nil, value.Errorf(value.TypeError, "", "takes a text or a whole number as seed, not %s", value.KindOf(seed))
	}
	var key []uint32
	for b := n.Bytes(); len(b) > 0; {
		// Words of 32 bits, the lowest first.
		var word uint32
		for _, c := range b[max(len(b)-4, 0):] {
			word = word<<8 | uint32(c)
		}
		key, b = append(key, word), b[:max(len(b)-4, 0)]
	}
	if len(key) == 0 {
		key = []uint32{0}
	}
	return newTwister(key), nil
}

// generator is the one for a call: of its seed, or of chance.
func generator(c *call.Input, seed any) (*twister, error) {
	if seed != nil || c.World.Chance == nil {
		return NewGenerator(seed)
	}
	drawn, err := c.World.Chance(c.Env)
	if drawn, err = call.Ask("chance", c.Name, drawn, err); err != nil {
		return nil, err
	}
	return newTwister([]uint32{uint32(drawn), uint32(drawn >> 32)}), nil
}

// filterRandom draws an item of a list, a character of a text, or a number: from start up to the number before the bar, without it.
func filterRandom(c *call.Input) (any, error) {
	t, err := generator(c, c.Arg(2))
	if err != nil {
		return nil, err
	}
	if n, ok := value.NumberOf(c.Value); ok {
		end, ok := n.(int)
		if !ok {
			return nil, value.Errorf(value.TypeError, "make it one with `| int`", "needs a whole number or a list, not %s",
				value.KindOf(c.Value))
		}
		return drawNumber(c, t, end)
	}
	// Ansible refuses both for lists.
	if start, step := c.Arg(0), c.Arg(1); value.Truthy(start) || value.Truthy(step) {
		return nil, value.Errorf(value.TypeError, "", "takes start and step only for a number")
	}
	if _, isMap := value.MapOf(c.Value); isMap {
		return nil, value.Errorf(value.TypeError, "make a list of it with `| list` or `| dict2items`",
			"needs a whole number or a list, not a map")
	}
	if r, ok := c.Value.(value.Range); ok {
		return r.At(t.Below(r.Len)), nil
	}
	list, err := c.ValueItems()
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, value.Errorf(value.Failure, "", "there is nothing to choose from: the list is empty")
	}
	return list[t.Below(uint64(len(list)))], nil
}

// drawNumber gives a number from start on, and below end.
func drawNumber(c *call.Input, t *twister, end int) (any, error) {
	start, err := c.ArgInt(0, 0)
	if err != nil {
		return nil, err
	}
	step, err := c.ArgInt(1, 1)
	if err != nil {
		return nil, err
	}
	width := new(big.Int).Sub(big.NewInt(int64(end)), big.NewInt(int64(start))) // it may be more than an int holds
	by := big.NewInt(int64(step))
	switch {
	case step == 0: // as if it was not given
		by.SetInt64(1)
	case step > 0:
		// Rounded up, as in Python's randrange: the last step may be shorter.
		width.Add(width, big.NewInt(int64(step)-1))
	default:
		width.Add(width, big.NewInt(int64(step)+1))
	}
	count := width.Quo(width, by)
	if count.Sign() <= 0 || !count.IsUint64() {
		return nil, value.Errorf(value.Failure, "",
			"there is nothing to choose from: no number is from %d up to and without %d in steps of %s", start,
			end, by)
	}
	return start + int(by.Int64())*int(t.Below(count.Uint64())), nil
}

func filterShuffle(c *call.Input) (any, error) {
	seed := c.Arg(0)
	if !value.Truthy(seed) { // an empty seed is none for Ansible
		seed = nil
	}
	t, err := generator(c, seed)
	if err != nil {
		return nil, err
	}
	list, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	// A variable holds the list.
	list = slices.Clone(list)
	// From the end, as Python does it: the draws must come in the same order.
	for i := len(list) - 1; i > 0; i-- {
		j := t.Below(uint64(i) + 1)
		list[i], list[j] = list[j], list[i]
	}
	return list, nil
}
