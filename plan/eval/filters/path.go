package filters

import (
	"os"
	"os/user"
	"path"
	"path/filepath"
	"strings"

	"moon/plan/eval/call"
)

func pathFilters() map[string]*Filter {
	return map[string]*Filter{
		"basename":   {Run: onText(basename)},
		"dirname":    {Run: onText(dirname)},
		"expanduser": {Run: filterExpandUser},
		"realpath":   {Run: filterRealPath},
		"splitext":   {Run: filterSplitExt},
		"path_join":  {Run: filterPathJoin},
	}
}

// basename is what stands behind the last slash: "" for a path that ends in one, as in Python.
func basename(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

func dirname(s string) string {
	dir := s[:strings.LastIndexByte(s, '/')+1]
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" {
		return trimmed
	}
	// Nothing but slashes stays, as in Python.
	return dir
}

func filterExpandUser(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s, "~") {
		return s, nil
	}
	name, rest, slash := strings.Cut(s[1:], "/")
	if slash {
		rest = "/" + rest
	}
	home := ""
	if name == "" {
		home, err = os.UserHomeDir()
	} else {
		var u *user.User
		if u, err = user.Lookup(name); err == nil {
			home = u.HomeDir
		}
	}
	if err != nil {
		return s, nil //nolint:nilerr // as the shell does: an unknown user leaves the text as it is
	}
	return strings.TrimRight(home, "/") + rest, nil
}

func filterRealPath(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(s)
	if err != nil {
		return nil, err
	}
	// Python takes a path that does not exist, too.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

func filterSplitExt(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	base := basename(s)
	// The dots at the beginning make a hidden file, not an extension: .bashrc has none.
	trimmed := strings.TrimLeft(base, ".")
	i := strings.LastIndexByte(trimmed, '.')
	if i < 0 {
		return []any{s, ""}, nil
	}
	ext := trimmed[i:]
	return []any{strings.TrimSuffix(s, ext), ext}, nil
}

func filterPathJoin(c *call.Input) (any, error) {
	// A single text is a path already; as a list it would be its characters.
	if s, ok := c.Value.(string); ok {
		return s, nil
	}
	items, err := c.ValueItems()
	if err != nil {
		return nil, err
	}
	joined := ""
	for _, item := range items {
		part := c.Print(item)
		switch {
		// An absolute part replaces all before it, as in Python's os.path.join.
		case path.IsAbs(part) || joined == "":
			joined = part
		case strings.HasSuffix(joined, "/"):
			joined += part
		default:
			joined += "/" + part
		}
	}
	return joined, nil
}
