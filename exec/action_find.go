package exec

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("find", action{run: runFind, dry: dryFind, effect: events.ChangeNone})

func dryFind(ctx context.Context, a *attempt) Result {
	if r := a.changedMeanwhile(a.Args.(*spec.FindArgs).Paths...); r != nil {
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
	inside   [][2]uint64 // directories that the search is in, by identity: links may lead around
}

func runFind(ctx context.Context, a *attempt) Result {
	f := finding{args: a.Args.(*spec.FindArgs), now: time.Now(), files: []any{}, skipped: map[string]any{}}
	for _, path := range f.args.Paths {
		if err := f.directory(ctx, filepath.Clean(path), 1); err != nil {
			return a.failure(ctx, err)
		}
	}
	r := Result{Outcome: events.OK, Fields: map[string]any{
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

// directory looks at what is in a directory. What cannot be read is skipped; the error is that the step was stopped.
func (f *finding) directory(ctx context.Context, dir string, depth int) error {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		f.skipped[dir] = reason(err)
		return nil
	}
	id := [2]uint64{uint64(st.Dev), st.Ino} //nolint:unconvert // of another type on other systems
	if slices.Contains(f.inside, id) {
		return nil
	}
	f.inside = append(f.inside, id)
	defer func() { f.inside = f.inside[:len(f.inside)-1] }()
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.skipped[dir] = strings.TrimPrefix(describe(err), dir+": ")
	}
	for _, e := range entries {
		if stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		path := filepath.Join(dir, e.Name())
		f.examined++
		if err := f.entry(ctx, path, e.Name()); err != nil {
			f.skipped[path] = strings.TrimPrefix(describe(err), path+": ")
		}
		if !f.args.Recurse || f.args.Depth > 0 && depth >= f.args.Depth {
			continue
		}
		below := e.IsDir()
		if info, err := os.Stat(path); f.args.Follow && err == nil {
			below = info.IsDir()
		}
		if below {
			if err := f.directory(ctx, path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry adds what is at a path to the list, if it is as wanted.
func (f *finding) entry(ctx context.Context, path, name string) error {
	a := f.args
	named := func(patterns []*regexp.Regexp) bool {
		return slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(name) })
	}
	if strings.HasPrefix(name, ".") && !a.Hidden || len(a.Wanted) > 0 && !named(a.Wanted) || named(a.Unwanted) {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return err
	}
	m := statFields(path, &st)
	isFile := m["isreg"] == true
	if kind := map[string]string{"file": "isreg", "directory": "isdir", "link": "islnk"}[a.FileType]; kind != "" && m[kind] != true {
		return nil
	}
	age := float64(f.now.UnixNano())/1e9 - m[a.Stamp].(float64)
	if !reaches(age, float64(a.Seconds), a.Age) || isFile && !reaches(float64(st.Size), float64(a.Bytes), a.Size) {
		return nil
	}
	if isFile && a.Text != nil {
		if has, err := hasLine(ctx, path, a.Text); err != nil || !has {
			return err
		}
	}
	if isFile && a.Checksum {
		sum, err := fileSum(ctx, path, "sha1")
		if err != nil {
			return err
		}
		m["checksum"] = sum
	}
	f.files = append(f.files, m)
	return nil
}

// reaches compares with a bound as it is written: with a minus it is the most, otherwise the least.
func reaches(is, bound float64, written string) bool {
	switch {
	case written == "":
		return true
	case strings.HasPrefix(strings.TrimSpace(written), "-"):
		return is <= -bound
	}
	return is >= bound
}

func hasLine(ctx context.Context, path string, re *regexp.Regexp) (bool, error) {
	file, err := openRegular(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it was only read
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadString('\n')
		if line != "" && re.MatchString(withoutEnd(line)) {
			return true, nil
		}
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		case stopped(ctx) != "":
			return false, context.Cause(ctx)
		}
	}
}
