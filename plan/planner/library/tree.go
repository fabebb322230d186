package library

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"moon/plan/source"
)

// ListTree lists everything below a directory as items of a loop, sorted bytewise by full path. Links are listed, not followed; the
// directory itself may be a link. fail is given what is wrong.
func (l *Library) ListTree(name, dir string, fail func(hint, format string, args ...any)) (items []any, ok bool) {
	if strings.TrimSpace(name) == "" {
		fail("name the directory", "the path is empty")
		return nil, false
	}
	root := strings.TrimSuffix(l.Resolve(name, dir), "/") // "" is the root of the file system
	entries, seen := l.disk.Trees[root]
	if !seen {
		if info, err := l.disk.Stat(cmp.Or(root, "/")); err != nil {
			if link, _ := os.Readlink(root); link != "" && errors.Is(err, fs.ErrNotExist) {
				fail("", "%s is a link to %s, which does not exist", l.ShowPath(root), link)
				return nil, false
			}
			fail(l.SuggestFile(root), "%s", l.DescribeError(err))
			return nil, false
		} else if !info.IsDir() {
			fail("", "%s is not a directory", l.ShowPath(root))
			return nil, false
		}
		all, count, err := source.EntriesOf(root, l.o.MaxSteps)
		if err != nil {
			fail("", "%s", l.DescribeError(err))
			return nil, false
		}
		if count > l.o.MaxSteps {
			fail("raise the limit with --max-steps, or name a directory further down",
				"%s has %d entries; the limit of steps is %d", l.ShowPath(root), count, l.o.MaxSteps)
			return nil, false
		}
		entries = all
		l.disk.Trees[root] = entries
	}
	for _, e := range entries {
		items = append(items, e.Item(root))
	}
	return items, true
}
