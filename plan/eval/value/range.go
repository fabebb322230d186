package value

import "fmt"

// Range is a range of whole numbers that is too long for a list. What takes one number of it, or only asks how many there are, works;
// what needs them all says that there are too many.
type Range struct {
	From, Step int
	Len        uint64
}

// RangeLen is how many numbers there are from a number up to and without another, in steps that are not 0.
func RangeLen(from, to, step int) uint64 {
	// Of two that are in order the distance fits, whatever their signs.
	switch {
	case step > 0 && from < to:
		return (uint64(to)-uint64(from)-1)/uint64(step) + 1
	case step < 0 && from > to:
		return (uint64(from)-uint64(to)-1)/-uint64(step) + 1
	}
	return 0
}

// At is the number at a place, from 0 on.
func (r Range) At(i uint64) int { return r.From + r.Step*int(i) }

// Kind implements Thing.
func (r Range) Kind() string { return fmt.Sprintf("a range of %d numbers", r.Len) }

// TooLong is why there is no list of them.
func (r Range) TooLong() *Error {
	return Errorf(Failure, "take one number of it, as with `| random`, or a shorter range", "a range of %d numbers is too long for a list", r.Len)
}

// place is where a number is in the range.
func (r Range) place(v any) (i uint64, ok bool) {
	n, _ := NumberOf(v)
	x, isInt := n.(int)
	if f, isFloat := n.(float64); isFloat && f == float64(int(f)) {
		x, isInt = int(f), true // 3.0 is 3
	}
	if !isInt || r.Step > 0 && x < r.From || r.Step < 0 && x > r.From {
		return 0, false
	}
	far, by := uint64(x)-uint64(r.From), uint64(r.Step)
	if r.Step < 0 {
		far, by = uint64(r.From)-uint64(x), -uint64(r.Step)
	}
	return far / by, far%by == 0 && far/by < r.Len
}

// index is the number at a place of a list, where -1 is the last.
func (r Range) index(i int) (any, bool) {
	switch {
	case i >= 0 && uint64(i) < r.Len:
		return r.At(uint64(i)), true
	case i < 0 && -uint64(i) <= r.Len:
		return r.At(r.Len - -uint64(i)), true
	}
	return nil, false
}

// Item is the number that a key names, as of a list.
func (r Range) Item(key any) (any, bool) {
	i, ok := IndexFor(key)
	if !ok {
		return nil, false
	}
	return r.index(i)
}
