package fsys

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"moon/exec/spec"
)

// relabel puts the labels that a step asks for into a context: user:role:type:level. Without a policy of levels a context has none.
func relabel(l spec.Labels, context string) string {
	parts := strings.SplitN(context, ":", 4)
	for i, want := range []string{l.SEUser, l.SERole, l.SEType, l.SELevel} {
		if want != "" && i < len(parts) && context != "" {
			parts[i] = want
		}
	}
	return strings.Join(parts, ":")
}

// contextAt is the context of what was seen at a name, on a machine with SELinux.
func contextAt(dir *os.Root, name string, e Entry) string {
	if !labelled() {
		return ""
	}
	fd, err := openSeen(dir, name, e)
	if err != nil {
		return "" // whoever is to change it finds out why
	}
	defer func() { _ = syscall.Close(fd) }()
	return contextOf(fd)
}

// OnlyFiles refuses labels for a whole tree of new files.
func (at Attributes) OnlyFiles() error {
	if at.Labels == (spec.Labels{}) {
		return nil
	}
	return errors.New("labels are given to single files; add a step with `file: {path: …, state: directory, recurse: true, setype: …}`")
}
