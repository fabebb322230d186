package steplog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are the files that hold what an attempt printed, if it printed anything to that stream.
func Files(dir, prefix string) []string {
	return []string{filepath.Join(dir, prefix+suffixes[stdout]), filepath.Join(dir, prefix+suffixes[stderr])}
}

// Read gives all that an attempt printed. An attempt that printed nothing has no files.
func Read(dir, prefix string) (out, err []byte, failed error) {
	var text [2][]byte
	for stream, path := range Files(dir, prefix) {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("read output: %w", err)
		}
		text[stream] = b
	}
	return text[stdout], text[stderr], nil
}

// Tail is the end of what an attempt has printed, as Writer.Tail gives it: of standard error, or of standard output if
// nothing went to standard error.
func Tail(dir, prefix string) (string, error) {
	for _, suffix := range []string{suffixes[stderr], suffixes[stdout]} {
		text, whole, err := tailOf(filepath.Join(dir, prefix+suffix), tailSize)
		if err != nil {
			return "", fmt.Errorf("read output: %w", err)
		}
		if len(text) > 0 {
			return tidyTail(text, whole), nil
		}
	}
	return "", nil
}

// Ends are the last bytes of both streams, as whole lines where they can be, and whether anything stands before them.
func Ends(dir, prefix string, limit int64) (text [2]string, cut [2]bool, err error) {
	for stream, suffix := range suffixes {
		end, whole, err := tailOf(filepath.Join(dir, prefix+suffix), limit)
		if err != nil {
			return text, cut, fmt.Errorf("read output: %w", err)
		}
		text[stream], cut[stream] = tidyTail(end, whole), !whole
	}
	return text, cut, nil
}

// tailOf is the end of a file; whole says that it is all of it. A missing file is empty.
func tailOf(path string, limit int64) (text []byte, whole bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	n := min(info.Size(), limit)
	text = make([]byte, n)
	if _, err := f.ReadAt(text, info.Size()-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	return text, n == info.Size(), nil
}

// Copy writes what an attempt has printed as it is, each stream to its own writer. A stream without one is left out.
func Copy(stdoutTo, stderrTo io.Writer, dir, prefix string) error {
	for stream, to := range []io.Writer{stdout: stdoutTo, stderr: stderrTo} {
		if to == nil {
			continue
		}
		f, err := os.Open(filepath.Join(dir, prefix+suffixes[stream]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read output: %w", err)
		}
		_, err = io.Copy(to, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
