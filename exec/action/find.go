package action

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
	"moon/internal/pyregexp"
)

var _ = exec.Register("find", exec.Action{Run: runFind, Dry: dryFind, Effect: events.ChangeNone})

func dryFind(ctx context.Context, a *exec.Attempt) exec.Result {
	if r := a.ChangedEarlier(a.Args.(*spec.FindArgs).Paths...); r != nil {
		return *r
	}
	return runFind(ctx, a)
}

// finding is a search under way. Directories are read in the order of their names, so that the same tree gives the same list.
type finding struct {
	args     *spec.FindArgs
	now      time.Time
	files    []any
	examined int
	skipped  map[string]any
	inside   []fs.FileInfo // directories that the search is in: links may lead around
}

func runFind(ctx context.Context, a *exec.Attempt) exec.Result {
	f := finding{args: a.Args.(*spec.FindArgs), now: time.Now(), files: []any{}, skipped: map[string]any{}}
	for _, path := range f.args.Paths {
		if err := f.searchRoot(ctx, filepath.Clean(path), 1); err != nil {
			return a.Failure(ctx, err)
		}
	}
	r := exec.Result{Outcome: events.OK, Fields: map[string]any{
		"files": f.files, "matched": len(f.files), "examined": f.examined, "skipped_paths": f.skipped, "msg": "All paths examined",
	}}
	if len(f.skipped) > 0 {
		r.Fields["msg"] = "Not all paths examined, check warnings for details"
		for path, why := range f.skipped {
			r.Warnings = append(r.Warnings, "skipped "+path+": "+why.(string))
		}
		slices.Sort(r.Warnings)
	}
	return r
}

// searchRoot looks at what is in a directory that a path leads to. What cannot be read is skipped; the error is that the step was stopped.
func (f *finding) searchRoot(ctx context.Context, path string, depth int) error {
	dir, err := fsys.OpenDir(path)
	if err != nil {
		f.skipPath(path, err)
		return nil
	}
	defer func() { _ = dir.Close() }() // it was only read
	return f.searchDirectory(ctx, dir, path, depth)
}

func (f *finding) skipPath(path string, err error) {
	f.skipped[path] = strings.TrimPrefix(fault.Describe(err), path+": ")
}

// searchDirectory looks at what is in a directory that is held open: whatever its path becomes meanwhile, the search stays in it.
func (f *finding) searchDirectory(ctx context.Context, dir *os.Root, path string, depth int) error {
	here, err := dir.Open(".")
	if err != nil {
		f.skipPath(path, err)
		return nil
	}
	defer func() { _ = here.Close() }() // it was only read
	info, err := here.Stat()
	if err != nil {
		f.skipPath(path, err)
		return nil
	}
	// The search is inside this directory already: links lead in a circle.
	if slices.ContainsFunc(f.inside, func(d fs.FileInfo) bool { return os.SameFile(d, info) }) {
		return nil
	}
	f.inside = append(f.inside, info)
	defer func() { f.inside = f.inside[:len(f.inside)-1] }()
	entries, err := here.ReadDir(-1)
	if err != nil {
		f.skipped[path] = fault.Reason(err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if fault.Stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		below := filepath.Join(path, e.Name())
		f.examined++
		if err := f.addEntry(ctx, here, below, e.Name()); err != nil {
			f.skipPath(below, err)
		}
		if !f.args.Recurse || f.args.Depth > 0 && depth >= f.args.Depth {
			continue
		}
		if err := f.enterEntry(ctx, dir, e, below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// enterEntry goes on with an entry of a directory, if it is one itself, or a link to one that is to be followed.
func (f *finding) enterEntry(ctx context.Context, dir *os.Root, e fs.DirEntry, path string, depth int) error {
	switch {
	case e.IsDir():
		next, err := fsys.OpenBelow(dir, e.Name()+"/.")
		if err != nil {
			f.skipPath(path, err)
			return nil
		}
		defer func() { _ = next.Close() }() // it was only read
		return f.searchDirectory(ctx, next, path, depth)
	case f.args.Follow && e.Type()&fs.ModeSymlink != 0:
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil // a link that leads nowhere is an entry like others
		}
		return f.searchRoot(ctx, path, depth)
	}
	return nil
}

// addEntry adds what is at a path to the list, if it is as wanted.
func (f *finding) addEntry(ctx context.Context, dir *os.File, path, name string) error {
	a := f.args
	var wrong error
	named := func(patterns []*pyregexp.Pattern) bool {
		return slices.ContainsFunc(patterns, func(re *pyregexp.Pattern) bool { return re.Matching(&wrong)(name) })
	}
	if strings.HasPrefix(name, ".") && !a.Hidden || len(a.Wanted) > 0 && !named(a.Wanted) || named(a.Unwanted) || wrong != nil {
		return wrong
	}
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	m := statFields(path, &st)
	isFile := m["isreg"] == true
	if kind := map[string]string{"file": "isreg", "directory": "isdir", "link": "islnk"}[a.FileType]; kind != "" && m[kind] != true {
		return nil
	}
	age := float64(f.now.UnixNano())/1e9 - m[a.Stamp].(float64)
	if !reachesBound(age, float64(a.Seconds), a.Age) || isFile && !reachesBound(float64(st.Size), float64(a.Bytes), a.Size) {
		return nil
	}
	if isFile && (a.Text != nil || a.Checksum) {
		file, err := openSeenFile(dir, name, path, &st)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		if a.Text != nil {
			if has, err := contains(ctx, file, a, st.Size); err != nil || !has {
				return err
			}
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		if a.Checksum {
			if m["checksum"], err = fsys.SumOf(ctx, file, "sha1"); err != nil {
				return err
			}
		}
	}
	f.files = append(f.files, m)
	return nil
}

// reachesBound compares with a bound as it is written: with a minus it is the most, otherwise the least.
func reachesBound(is, bound float64, written string) bool {
	switch {
	case written == "":
		return true
	case strings.HasPrefix(strings.TrimSpace(written), "-"):
		return is <= -bound
	}
	return is >= bound
}

// openSeenFile opens a file that was looked at in a directory, and no other that is there now.
func openSeenFile(dir *os.File, name, path string, seen *unix.Stat_t) (*os.File, error) {
	// A FIFO that has taken the place of the file would hold up the opening until something writes to it.
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if info, err := f.Stat(); err != nil || !fsys.IsSame(info, seen) {
		_ = f.Close() // it was only read
		return nil, &fs.PathError{Op: "read", Path: path, Err: fsys.ErrSwapped}
	}
	return f, nil
}

// contains reports whether a file has what is looked for.
func contains(ctx context.Context, file io.Reader, args *spec.FindArgs, size int64) (bool, error) {
	if !args.Whole {
		return hasLine(ctx, file, args.Text)
	}
	if size > editLimit {
		return false, fmt.Errorf("it has %d bytes, which is too much to be read as a whole", size)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return false, err
	}
	whole := strings.ReplaceAll(string(text), "\r\n", "\n") // as Python reads it
	found, err := args.Text.Match(whole)
	// For Python $ is also the place before a line break that ends the text.
	if last, ok := strings.CutSuffix(whole, "\n"); ok && !found && err == nil && strings.Contains(args.Text.String(), "$") {
		return args.Text.Match(last)
	}
	return found, err
}

func hasLine(ctx context.Context, file io.Reader, re *pyregexp.Pattern) (bool, error) {
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadString('\n')
		if line != "" {
			if found, err := re.Match(lines.WithoutEnd(line)); found || err != nil {
				return found, err
			}
		}
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		case fault.Stopped(ctx) != "":
			return false, context.Cause(ctx)
		}
	}
}
