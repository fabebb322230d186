package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Source is a file, or a directory with everything below it.
type Source struct {
	Path   string // absolute
	Digest string // of the content: of a file the SHA-256, of a directory one over its entries; "" if nothing is there
	Mode   string // permissions of a file, such as 0644
	// Parts says that only the files in the directory itself count, and that links in it are followed: as assemble reads it.
	Parts   bool
	Entries []Entry // of a directory, sorted by name

	changed time.Time // of a file: when it was last changed, whatever its times say
}

// Entry is what is below a directory.
type Entry struct {
	Name   string // relative to the directory, with a leading slash
	Kind   Kind
	Mode   string // permissions; "" for what has none that matter
	Digest string // of a file as in Source; of a link, where it leads

	changed time.Time
}

// Kind is what an entry is.
type Kind string

// The kinds of entry. Other is what no step copies: devices, sockets, pipes.
const (
	File      Kind = "file"
	Directory Kind = "directory"
	Link      Kind = "link"
	Other     Kind = "other"
)

// IsDir reports whether the source is a directory.
func (s *Source) IsDir() bool { return s.Entries != nil }

// Files is how many files are in a directory.
func (s *Source) Files() (n int) {
	for i := range s.Entries {
		if s.Entries[i].Kind == File {
			n++
		}
	}
	return n
}

// New lists everything in a source, as new.
func (s *Source) New() []Change {
	switch {
	case s.Digest == "":
		return nil
	case !s.IsDir():
		return []Change{{s.Path, "is new", s.changed}}
	}
	var list []Change
	for _, e := range s.Entries {
		list = append(list, Change{s.at(e.Name), "is new", e.changed})
	}
	return list
}

// Hashed reports whether a digest of a file is one of its content.
func Hashed(digest string) bool { return len(digest) == 2*sha256.Size }

// MaxHashed is how many bytes of a source are read at most, all its files together. The files of a larger source are known by their
// sizes and modification times.
const MaxHashed = 1 << 30

// Look says what is at a path now. What is not there has no digest; that is no error.
func Look(path string, parts bool) (*Source, error) {
	s := &Source{Path: path, Parts: parts}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		var st stamp
		s.Digest, st, err = digestOf(path, stampOf(info), info.Size() > MaxHashed)
		s.Mode, s.changed = permissions(info), st.changed
		return s, err
	case info.IsDir():
		return s, s.lookBelow()
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is neither a file nor a directory")}
}

// lookBelow lists a directory and takes the digest of each file in it.
func (s *Source) lookBelow() error {
	s.Entries = []Entry{}
	files := map[string]stamp{}
	var size int64
	// With the slash a directory that is a link is walked, and not taken for a leaf.
	err := filepath.WalkDir(strings.TrimSuffix(s.Path, "/")+"/", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, strings.TrimSuffix(s.Path, "/"))
		if err != nil || name == "/" {
			return err
		}
		info, err := d.Info()
		if err == nil && s.Parts {
			info, err = os.Stat(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just gone, or is a link to nothing
			return nil
		case err != nil:
			return err
		case s.Parts && info.IsDir() && d.IsDir():
			return fs.SkipDir
		case s.Parts && !info.Mode().IsRegular():
			return nil
		}
		e := entryOf(name, info)
		if e.Kind == File {
			size += info.Size()
			files[name] = stampOf(info)
		}
		if e.Kind == Link {
			if e.Digest, err = os.Readlink(path); err != nil {
				return err
			}
		}
		s.Entries = append(s.Entries, e)
		return nil
	})
	if err != nil {
		return err
	}
	// WalkDir sorts each directory by itself: a file "a.txt" comes after what is in "a/", where bytewise it is first.
	slices.SortFunc(s.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.Kind != File {
			continue
		}
		if e.Digest, _, err = digestOf(s.at(e.Name), files[e.Name], size > MaxHashed); err != nil {
			return err
		}
	}
	s.Seal()
	return nil
}

// at is the path of an entry.
func (s *Source) at(name string) string { return strings.TrimSuffix(s.Path, "/") + name }

func entryOf(name string, info fs.FileInfo) Entry {
	e := Entry{Name: name, Kind: Other, changed: stampOf(info).changed}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Kind, e.Mode = File, permissions(info)
	case mode.IsDir():
		e.Kind, e.Mode = Directory, permissions(info)
	case mode&fs.ModeSymlink != 0:
		e.Kind = Link
	}
	return e
}

func permissions(info fs.FileInfo) string { return fmt.Sprintf("%04o", info.Mode().Perm()) }

// Seal computes the digest of a directory from its entries.
func (s *Source) Seal() {
	h := sha256.New()
	for _, e := range s.Entries {
		fmt.Fprintf(h, "%q %s %s %q\n", e.Name, e.Kind, e.Mode, e.Digest)
	}
	s.Digest = hex.EncodeToString(h.Sum(nil))
}

// Change is a file that is not what it was.
type Change struct {
	Path string
	How  string    // "has changed", "is gone", "is new"
	At   time.Time // when; zero if that is not known
}

func (c Change) String() string { return c.Path + " " + c.How }

// Changes lists what is not the same in a source as it is now. What was not there before is no change: an earlier step makes it.
func (s *Source) Changes(now *Source) []Change {
	switch {
	case s.Digest == "" || s.Digest == now.Digest:
		return nil
	case now.Digest == "":
		return []Change{{Path: s.Path, How: "is gone", At: changedAbove(s.Path)}}
	case s.Entries == nil || now.Entries == nil:
		return []Change{{Path: s.Path, How: "has changed", At: now.changed}}
	}
	var list []Change
	// Both lists are in order, so one pass finds the differences.
	i := 0
	for _, was := range s.Entries {
		for ; i < len(now.Entries) && now.Entries[i].Name < was.Name; i++ {
			list = append(list, Change{s.at(now.Entries[i].Name), "is new", now.Entries[i].changed})
		}
		if i == len(now.Entries) || now.Entries[i].Name != was.Name {
			list = append(list, Change{s.at(was.Name), "is gone", changedAbove(s.at(was.Name))})
			continue
		}
		is := now.Entries[i]
		i++
		if was.Kind != is.Kind || was.Mode != is.Mode || was.Digest != is.Digest {
			list = append(list, Change{s.at(was.Name), "has changed", is.changed})
		}
	}
	for ; i < len(now.Entries); i++ {
		list = append(list, Change{s.at(now.Entries[i].Name), "is new", now.Entries[i].changed})
	}
	return list
}

// changedAbove is when the nearest directory above a path that is gone was changed: by its removal, or by a later change.
func changedAbove(path string) time.Time {
	for path != "/" && path != "." {
		path = filepath.Dir(path)
		if info, err := os.Stat(path); err == nil {
			return stampOf(info).changed
		}
	}
	return time.Time{}
}

// stamp tells whether a file may have been changed since it was read.
type stamp struct {
	dev, ino      uint64
	size          int64
	modified      time.Time
	changed, read time.Time
}

func stampOf(info fs.FileInfo) stamp {
	st := stamp{size: info.Size(), modified: info.ModTime()}
	st.from(info)
	return st
}

// settled is how long a file must have been left alone before its stamp is believed: file systems keep times in steps of up to two
// seconds, and two changes within one step have the same.
const settled = 2 * time.Second

// same reports whether a file has certainly not been changed since the stamp was taken.
func (st stamp) same(now stamp) bool {
	then := st.read
	st.read, now.read = time.Time{}, time.Time{}
	return st == now && then.Sub(st.changed) > settled
}

// known are the digests of files that this process has read. A plan that is made again, and a step that is about to start, ask for the
// same files; what a stamp says to be the same is not read again.
var known struct {
	sync.Mutex
	files map[string]knownFile
}

type knownFile struct {
	stamp
	digest string
}

// digestOf is the digest of a regular file, which is read unless it is large, or known by its stamp.
func digestOf(path string, now stamp, large bool) (string, stamp, error) {
	if large {
		return fmt.Sprintf("size %d, of %s", now.size, now.modified.UTC().Format(time.RFC3339Nano)), now, nil
	}
	// Not locked while a file is read: that two read the same one does no harm.
	known.Lock()
	have, ok := known.files[path]
	known.Unlock()
	if ok && have.same(now) {
		return have.digest, now, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // should it have become a pipe by now
	if err != nil {
		return "", now, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return "", now, err
	}
	if !info.Mode().IsRegular() {
		return "", now, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file any more")}
	}
	// Of the file that is open: the name may lead to another by now.
	now = stampOf(info)
	now.read = time.Now()
	digest, err := hashFile(f)
	if err != nil {
		return "", now, err
	}
	known.Lock()
	defer known.Unlock()
	if known.files == nil {
		known.files = map[string]knownFile{}
	}
	known.files[path] = knownFile{now, digest}
	return digest, now, nil
}

// buffers are for reading files that are only hashed: a tree of many small ones would make as many.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// hashFile is the SHA-256 of a file, from where it is to its end.
func hashFile(f *os.File) (string, error) {
	buf, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	h := sha256.New()
	for {
		n, err := f.Read(buf[:])
		_, _ = h.Write(buf[:n]) // it has no errors
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}
