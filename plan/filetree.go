package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"moon/plan/playbook"
)

// fileTree lists everything below a directory, sorted bytewise by full path. Links are listed, not followed; the
// directory itself may be a link.
func (p *planner) fileTree(c *scopeContext, t *playbook.Task, r *renderer) ([]item, bool) {
	over := t.Loop.Over
	if over.IsZero() {
		return nil, false // the parser has said why
	}
	fail := func(hint, format string, args ...any) ([]item, bool) {
		p.errorf(over.Pos(), utf8.RuneCountInString(firstLine(over.Text())), c.chain, hint, "with_filetree: "+format, args...)
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
	if info, err := os.Stat(cmp.Or(root, "/")); err != nil {
		if link, _ := os.Readlink(root); link != "" && errors.Is(err, fs.ErrNotExist) {
			return fail("", "%s is a link to %s, which does not exist", p.shown(root), link)
		}
		return fail(p.similar(root), "%s", p.fileError(err))
	} else if !info.IsDir() {
		return fail("", "%s is not a directory", p.shown(root))
	}
	tree := treeOf(root, p.o.MaxSteps)
	if tree.err != nil {
		return fail("", "%s", p.fileError(tree.err))
	}
	if tree.count > p.o.MaxSteps {
		return fail("raise the limit with --max-steps, or name a directory further down",
			"%s has %d entries; the limit of steps is %d", p.shown(root), tree.count, p.o.MaxSteps)
	}
	return tree.items, true
}

// tree is what is below a directory.
type tree struct {
	items []item // sorted; not complete if there are more than asked for
	count int
	err   error
}

func treeOf(root string, limit int) tree {
	var t tree
	var paths []string
	// With the slash a root that is a link is walked, and not taken for a leaf.
	t.err = filepath.WalkDir(root+"/", func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if full == root+"/" {
			return nil
		}
		if t.count++; t.count > limit {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		t.items = append(t.items, item{value: treeItem(root, full, info)})
		paths = append(paths, full)
		return nil
	})
	// WalkDir sorts each directory by itself: a file "a.txt" comes after what is in "a/", where bytewise it is first.
	sort.Sort(&byPath{t.items, paths})
	return t
}

// byPath sorts items together with their paths.
type byPath struct {
	items []item
	paths []string
}

func (b *byPath) Len() int           { return len(b.paths) }
func (b *byPath) Less(i, j int) bool { return b.paths[i] < b.paths[j] }
func (b *byPath) Swap(i, j int) {
	b.items[i], b.items[j] = b.items[j], b.items[i]
	b.paths[i], b.paths[j] = b.paths[j], b.paths[i]
}

func treeItem(root, full string, info fs.FileInfo) map[string]any {
	rel := strings.TrimPrefix(filepath.ToSlash(full), filepath.ToSlash(root))
	state := "file"
	switch {
	case info.IsDir():
		state = "directory"
	case info.Mode()&fs.ModeSymlink != 0:
		state = "link"
	}
	return map[string]any{
		"src": full, "path": rel, "name": path.Base(rel), "dir": path.Dir(rel), "state": state, "is_dir": info.IsDir(),
		"mode": fmt.Sprintf("%04o", info.Mode().Perm()), "size": int(info.Size()), "depth": strings.Count(rel[1:], "/"),
	}
}
