package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a number of bytes on the command line, such as 64M.
type byteSize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteSize) UnmarshalText(text []byte) error {
	// Both 64M and 64MiB mean the same: sizes are counted in powers of two.
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(string(text)), "B"), "I")
	shift := 0
	for i, unit := range []string{"K", "M", "G"} {
		if cut, ok := strings.CutSuffix(number, unit); ok {
			number, shift = cut, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	// The shift must not push the number beyond 63 bits.
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a size; give a number of bytes above 0, perhaps with K, M or G, such as 64M", text)
	}
	*b = byteSize(n << shift)
	return nil
}
