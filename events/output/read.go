package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Read gives all that an attempt printed. An attempt that printed nothing has no files.
func Read(dir, prefix string) (out, err []byte, failed error) {
	var text [2][]byte
	for stream, suffix := range suffixes {
		b, err := os.ReadFile(filepath.Join(dir, prefix+suffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("read output: %w", err)
		}
		text[stream] = b
	}
	return text[stdout], text[stderr], nil
}
