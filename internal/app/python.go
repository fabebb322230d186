package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/plugin"
	"moon/exec/process"
	"moon/exec/python"
	"moon/exec/spec"
	"moon/plan"
	"moon/plan/called"
)

// AskPython has filters, tests and lookups in Python called by helpers, as plan.Outside wants it.
func AskPython(pools *python.Pools) called.Python {
	return func(root, what string, request []byte, answer func([]byte) ([]byte, bool)) ([]byte, error) {
		result, err := pools.Ask(root, what, request, answer)
		var failed *python.Failure
		switch {
		case errors.As(err, &failed):
			return nil, &called.Failure{Kind: failed.Kind, Text: failed.Text, Line: failed.Line}
		case errors.Is(err, python.ErrNone):
			return nil, errors.Join(err, called.ErrNone)
		}
		return result, err
	}
}

// ActWithPython has action plugins in Python called by helpers, as plugin.Host wants it.
func ActWithPython(pools *python.Pools) plugin.ActingPython {
	return func(ctx context.Context, root string, request []byte, answer func([]byte) ([]byte, bool)) (json.RawMessage, error) {
		result, err := pools.AskWithin(ctx, root, request, answer)
		if failed, ok := errors.AsType[*python.Failure](err); ok {
			return nil, &plugin.ActingError{Kind: failed.Kind, Text: failed.Text, Line: failed.Line}
		}
		return result, err
	}
}

// NewPythons are the helpers for playbooks in any directory, which see the collections that their playbook sees.
func NewPythons(asker *process.Asker) *python.Pools {
	return &python.Pools{New: func(root string) (*python.Pool, error) { return newPython(root, asker) }}
}

func newPython(root string, asker *process.Asker) (*python.Pool, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, errors.New("the working directory cannot be read")
	}
	o := plan.Options{Dir: dir}
	o.Home, _ = os.UserHomeDir() // without one there is nothing in it
	set, err := SearchAnsible(&o)
	if err != nil {
		return nil, err
	}
	pool := &python.Pool{
		Core: o.Core, Interpreters: corePythons(o.Core), Start: dir, Dir: dir, Asker: asker,
		Environment: map[string]string{
			"ANSIBLE_COLLECTIONS_PATH": strings.Join(append([]string{filepath.Join(root, "collections")}, o.Collections...), ":"),
		},
	}
	// Settings that came with the playbook may have Ansible write to files, and load what is not trusted. It looks for them where it
	// starts.
	if set.Supplied() != "" {
		pool.Start = "/"
	}
	return pool, nil
}

// corePythons are interpreters that an ansible-core may be installed for, the likeliest first: the one that its programs name, and those
// next to it.
func corePythons(core string) (list []string) {
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	version := "python3"
	for dir := core; dir != "/" && dir != "." && dir != ""; dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); strings.HasPrefix(base, "python3") {
			version = base
		}
		if line := firstLine(filepath.Join(dir, "bin", "ansible-playbook")); strings.HasPrefix(line, "#!/") {
			add(strings.Fields(line[2:])[0])
		}
		add(filepath.Join(dir, "bin", version))
		add(filepath.Join(dir, "bin", "python3"))
	}
	add("/usr/bin/python3")
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			add(filepath.Join(dir, "python3"))
		}
	}
	return list
}

func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	lines.Scan()
	return lines.Text()
}

// TrustsFiles says whether files that a saved plan names may run: those that came with a playbook must be trusted.
func TrustsFiles(o *plan.Options, all bool) (func([]spec.Member) bool, error) {
	store, err := Trusted()
	if err != nil {
		return nil, err
	}
	installed := InstalledDirs(o)
	return func(files []spec.Member) bool {
		return all || !slices.ContainsFunc(files, func(f spec.Member) bool {
			below := slices.ContainsFunc(installed, func(dir string) bool {
				return strings.HasPrefix(f.Path, strings.TrimSuffix(dir, "/")+"/")
			})
			return !below && !store.Has(f.Path, f.Digest)
		})
	}, nil
}

// InstalledDirs are directories of what a user has installed for all playbooks: what is there came with none.
func InstalledDirs(o *plan.Options) []string {
	dirs := []string{"/usr/share/ansible", "/etc/ansible"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".ansible"))
	}
	if o.Core != "" { // collections that were installed with it
		dirs = append(dirs, filepath.Dir(o.Core))
	}
	return dirs
}
