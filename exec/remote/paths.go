package remote

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"moon/exec/spec"
)

// expandHomes makes paths that begin with ~ those of the user who carries the job out: nobody else knows where that one's home is.
func (r *request) expandHomes(action *spec.Action) {
	for _, path := range []*string{&r.Cwd, &r.Creates, &r.Removes} {
		*path = atHome(*path)
	}
	if action != nil {
		homewardIn(action.Fields(), r.Raw)
	}
}

func homewardIn(fields []spec.Field, raw map[string]any) {
	for i := range fields {
		f := &fields[i]
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			v, given := raw[name]
			if !given {
				continue
			}
			switch f.Kind {
			case spec.Path:
				raw[name] = homewardValue(v)
			case spec.Paths:
				if text, ok := v.(string); ok {
					paths := strings.Split(text, ",")
					for i := range paths {
						paths[i] = atHome(strings.TrimSpace(paths[i]))
					}
					v = strings.Join(paths, ",")
				}
				raw[name] = homewardValue(v)
			case spec.Object:
				if inside, ok := v.(map[string]any); ok {
					homewardIn(f.Fields, inside)
				}
			default:
			}
		}
	}
}

func homewardValue(v any) any {
	switch v := v.(type) {
	case string:
		return atHome(v)
	case []any:
		for i := range v {
			v[i] = homewardValue(v[i])
		}
	}
	return v
}

// atHome is a path that begins with ~ or ~NAME in full. That of a user who does not exist stays what it is, as in a shell.
func atHome(path string) string {
	if !strings.HasPrefix(path, "~") {
		return path
	}
	name, rest, _ := strings.Cut(path[1:], "/")
	home := ""
	if name == "" {
		home = homeOfMe()
	} else if u, err := user.Lookup(name); err == nil {
		home = u.HomeDir
	}
	if home == "" {
		return path
	}
	full := filepath.Join(home, rest)
	if strings.HasSuffix(path, "/") && full != "/" {
		full += "/" // a directory to copy into
	}
	return full
}

// homeOfMe is the home of the user who this process is.
func homeOfMe() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	return me().HomeDir
}
