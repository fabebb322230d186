package plugin

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec"
)

// Trust remembers which plugins of playbooks somebody has looked at and trusts: a line for each, the SHA-256 of its file and
// its path. A file that was edited is another one. What is read, such as a library that the plugin imports, is not part of it.
type Trust struct{ File string }

// Has reports whether a file is trusted as it is.
func (t Trust) Has(path, digest string) bool {
	f, err := os.Open(t.File)
	if err != nil {
		return false // nobody has trusted anything yet, or nobody can tell
	}
	defer f.Close() //nolint:errcheck // only read
	// The whole line: a digest alone would trust a copy at another place, next to which other files may lie.
	want := trustLine(path, digest)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if lines.Text() == want {
			return true
		}
	}
	return false
}

func trustLine(path, digest string) string { return digest + "  " + path }

// Add trusts a file. A line is written at once, so that two that do it at the same time both have done it.
func (t Trust) Add(path, digest string) error {
	// A second line would be read as another file that is trusted.
	if strings.ContainsAny(path, "\n\r") {
		return fmt.Errorf("the path of %q has more than one line", path)
	}
	if t.Has(path, digest) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.File), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(trustLine(path, digest) + "\n")
	return errors.Join(err, f.Close())
}

// All are the paths of the files that are trusted, or were before they were edited, by name.
func (t Trust) All() ([]string, error) {
	lines, err := t.readLines()
	paths := make([]string, 0, len(lines))
	for _, l := range lines {
		_, path, _ := strings.Cut(l, "  ")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

func (t Trust) readLines() ([]string, error) {
	text, err := os.ReadFile(t.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), err
}

// Remove forgets what is trusted below a directory, or one file, and says how many files that were.
func (t Trust) Remove(dir string) (n int, err error) {
	lines, err := t.readLines()
	if err != nil {
		return 0, err
	}
	kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
		_, path, _ := strings.Cut(l, "  ")
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	})
	if len(kept) == len(lines) {
		return 0, nil
	}
	kept = append(kept, "") // each line ends
	return len(lines) - len(kept) + 1, os.WriteFile(t.File, []byte(strings.Join(kept, "\n")), 0o600)
}

// TrustFile trusts the file of a plugin as it is now.
func (t Trust) TrustFile(path string) (abs, digest string, err error) {
	if abs, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	// As it is found beside a playbook: the way there may hold links, the file itself may not change its name by it.
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("there is no file %s", path)
	}
	if err != nil {
		return "", "", err
	}
	if !info.Mode().IsRegular() {
		return "", "", fmt.Errorf("%s is not a file", path)
	}
	if digest, err = exec.FileDigest(abs); err != nil {
		return "", "", err
	}
	return abs, digest, t.Add(abs, digest)
}
