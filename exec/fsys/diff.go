package fsys

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// DiffLimit is the size of a text, in bytes, above which only a summary is given.
const DiffLimit = 1 << 20

// UnifiedDiff is the difference of two contents as text, or "" if either is too large or not text. Old is nil for a file
// that is new.
func UnifiedDiff(path string, old, now []byte) string {
	if !isText(old) || !isText(now) {
		return ""
	}
	before := path
	if old == nil {
		before = "/dev/null"
	}
	return udiff.Unified(before, path, string(old), string(now))
}

func isText(content []byte) bool {
	// A NUL is valid UTF-8, but in no text.
	return len(content) <= DiffLimit && bytes.IndexByte(content, 0) < 0 && utf8.Valid(content)
}

// FormatSize words a number of bytes.
func FormatSize(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// MaxListed is how many entries of a tree or an archive a diff names.
const MaxListed = 1000

// FewFiles is how many files are brought onto the disk one by one; for more it is quicker to wait for the whole disk.
const FewFiles = 32
