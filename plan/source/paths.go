package source

import (
	"os/user"
	"path/filepath"
	"strings"
)

// ResolvePath makes a path of a playbook absolute: ~ and ~user expand, a relative path starts in dir. A trailing slash
// is kept, because copy gives it a meaning.
func ResolvePath(path, dir, home string) string {
	if path == "" {
		return dir
	}
	slash := strings.HasSuffix(path, "/")
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(home, path[1:])
	case strings.HasPrefix(path, "~"):
		name, rest, _ := strings.Cut(path[1:], "/")
		if u, err := user.Lookup(name); err == nil {
			path = filepath.Join(u.HomeDir, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if slash && path != "/" {
		path += "/"
	}
	return path
}

// ResolveEach resolves a list of paths, or one text with commas between them. What is open stays open.
func ResolveEach(v any, resolve func(string) string) any {
	var items []any
	switch v := v.(type) {
	case []any:
		items = v
	case string:
		for path := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(path))
		}
	default:
		return v
	}
	paths := make([]any, len(items))
	for i, item := range items {
		paths[i] = item
		if text, ok := item.(string); ok && text != "" {
			paths[i] = resolve(text)
		}
	}
	return paths
}
