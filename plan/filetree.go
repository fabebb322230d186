package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/plan/playbook"
)

// fileTree lists everything below a directory, sorted bytewise by full path. Links are listed, not followed; the
// directory itself may be a link.
func (p *evaluator) fileTree(c *scopeContext, t *playbook.Task, r *renderer) ([]item, bool) {
	over := t.Loop.Over
	if over.IsZero() {
		return nil, false // the parser has said why
	}
	fail := func(hint, format string, args ...any) ([]item, bool) {
		p.errorf(over.Pos(), utf8.RuneCountInString(FirstLine(over.Text())), c.chain, hint, "with_filetree: "+format, args...)
		return nil, false
	}
	name := r.text(over)
	switch {
	case r.failed:
		return nil, false
	case len(r.missing) > 0:
		p.unknownLoop(c, t, r.missing)
		return nil, false
	case strings.TrimSpace(name) == "":
		return fail("name the directory", "the path is empty")
	}
	root := strings.TrimSuffix(p.resolve(name, c.dir), "/") // "" is the root of the file system
	entries, seen := p.disk.trees[root]
	if !seen {
		if info, err := p.disk.stat(cmp.Or(root, "/")); err != nil {
			if link, _ := os.Readlink(root); link != "" && errors.Is(err, fs.ErrNotExist) {
				return fail("", "%s is a link to %s, which does not exist", p.shown(root), link)
			}
			return fail(p.similar(root), "%s", p.fileError(err))
		} else if !info.IsDir() {
			return fail("", "%s is not a directory", p.shown(root))
		}
		all, count, err := entriesOf(root, p.o.MaxSteps)
		if err != nil {
			return fail("", "%s", p.fileError(err))
		}
		if count > p.o.MaxSteps {
			return fail("raise the limit with --max-steps, or name a directory further down",
				"%s has %d entries; the limit of steps is %d", p.shown(root), count, p.o.MaxSteps)
		}
		entries = all
		p.disk.trees[root] = entries
	}
	items := make([]item, len(entries))
	for i, e := range entries {
		items[i].value = e.item(root)
	}
	return items, true
}

// entriesOf lists what is below a directory, sorted bytewise by path, and counts it. Above the limit it only counts.
func entriesOf(root string, limit int) (list []entry, count int, err error) {
	// With the slash a root that is a link is walked, and not taken for a leaf.
	err = filepath.WalkDir(root+"/", func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if full == root+"/" {
			return nil
		}
		if count++; count > limit {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{
			path: strings.TrimPrefix(filepath.ToSlash(full), filepath.ToSlash(root)), state: "file",
			mode: fmt.Sprintf("%04o", info.Mode().Perm()), size: int(info.Size()),
		}
		switch {
		case info.IsDir():
			e.state, e.size = "directory", 0 // what a file system says of it depends on what was in it
		case info.Mode()&fs.ModeSymlink != 0:
			e.state = "link"
		}
		list = append(list, e)
		return nil
	})
	// WalkDir sorts each directory by itself: a file "a.txt" comes after what is in "a/", where bytewise it is first.
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return list, count, err
}

// item is the entry as a value.
func (e entry) item(root string) map[string]any {
	return map[string]any{
		"src": root + filepath.FromSlash(e.path), "path": e.path, "name": path.Base(e.path), "dir": path.Dir(e.path), "state": e.state,
		"is_dir": e.state == "directory", "mode": e.mode, "size": e.size, "depth": strings.Count(e.path[1:], "/"),
	}
}
