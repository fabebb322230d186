package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"moon/exec/plugin"
	"moon/exec/spec"
	"moon/plan"
	"moon/plan/inventory"
)

// InventorySource makes what a user has written after -i absolute, unless it is a list of hosts or for a plugin to understand.
func InventorySource(written, dir string) string {
	return inventory.Resolve(written, func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}, pathExists)
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Plugins asks the plugins of a playbook.
type Plugins struct {
	Of   *plan.Options // where they are found, once that is known
	Dir  string        // the directory of the playbook; "": that of the options
	Moon string        // its version
}

// Asker asks programs and plugins, as spec.PluginOf tells them apart.
func (p Plugins) Asker(call *Invocation) func(ctx context.Context, program string, args ...string) ([]byte, error) {
	return func(ctx context.Context, program string, args ...string) ([]byte, error) {
		return p.ask(ctx, call, program, args)
	}
}

func (p Plugins) ask(ctx context.Context, call *Invocation, program string, args []string) ([]byte, error) {
	kind, name, ok := spec.PluginOf(program)
	if !ok {
		return call.Asker.Run(ctx, program, args...)
	}
	registry := RegistryOf(p.Of)
	if registry == nil {
		return nil, errors.New("plugins are not asked here")
	}
	root := cmp.Or(p.Dir, filepath.Dir(p.Of.Path))
	if real, err := filepath.EvalSymlinks(root); err == nil { // trust is by path
		root = real
	}
	host := &plugin.Host{Moon: p.Moon, Cwd: root, Asker: call.Asker}
	defer host.Close()
	out, err := registry.Ask(ctx, &plugin.Question{
		Kind: kind, Name: name, Args: args, Root: root, Host: host,
		Python: func(root, what string, request []byte) (json.RawMessage, error) {
			return call.Python.Ask(root, what, request, func([]byte) ([]byte, bool) { return nil, true })
		},
	})
	if e, ok := errors.AsType[*spec.PluginError](err); ok && e.Hint != "" {
		return nil, errors.New(e.Text + "; " + e.Hint)
	}
	return out, err
}

// RegistryOf is where the plugins of a playbook are; nil if it has none.
func RegistryOf(o *plan.Options) *plugin.Registry {
	r, _ := o.Plugins.(*plugin.Registry)
	return r
}

// PluginFiles are the files that came with the playbook and run when the plugin is asked that a program stands for.
func PluginFiles(o *plan.Options, program string) (files []plan.Input) {
	kind, name, ok := spec.PluginOf(program)
	r := RegistryOf(o)
	if !ok || r == nil {
		return nil
	}
	for _, f := range r.Files(kind, name) {
		files = append(files, plan.Input{Path: f.Path, Digest: f.Digest})
	}
	return files
}
