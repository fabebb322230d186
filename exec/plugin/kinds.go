package plugin

import (
	"context"
	"encoding/json"
	"strings"

	"moon/exec/spec"
	"moon/internal/suggest"
)

// Capable finds a plugin that can do a kind of work under a name; nil if no plugin is called so. One that came with the playbook is not
// run to find out before it is trusted.
func (r *Registry) Capable(kind, name string) (*Capability, error) {
	f := r.lookUp(name)
	if f == nil {
		return nil, nil
	}
	if f.Library { // a module for Ansible does steps, and nothing else
		return nil, nil
	}
	if err := r.Load(f); err != nil {
		return nil, err
	}
	var names []string
	for _, said := range f.said.Capabilities {
		if said.Kind == kind && said.Name == name {
			return &Capability{Name: kind + "." + name, Doc: said.Doc, Globs: said.Globs, Shown: f.Shown, Plugin: f.toSpec(said)}, nil
		}
		if said.Kind == kind {
			names = append(names, said.Name)
		}
	}
	hint := suggest.DidYouMean(name, names)
	if hint == "" && len(names) > 0 {
		hint = "it has " + strings.Join(names, ", ")
	}
	return nil, &spec.PluginError{Text: "the plugin " + f.Shown + " has no " + kind + " `" + name + "`", Hint: hint}
}

// InventorySource is what an inventory plugin is asked.
type InventorySource struct {
	Plugin string         // its name
	Source string         // a file, or what the plugin understands
	Args   map[string]any // what else the file says
	Root   string         // the directory of the playbook
}

// Python has a file in Python do something, as exec/python does.
type Python func(root, what string, request []byte) (json.RawMessage, error)

// AskInventory has an inventory plugin read a source: one of moon's protocol, or else one that is written in Python for Ansible.
func (r *Registry) AskInventory(ctx context.Context, host *Host, python Python, of InventorySource) ([]byte, error) {
	c, err := r.Capable(Inventory, of.Plugin)
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		return host.Inventory(ctx, c, of.Source, of.Args)
	}
	callee, err := r.Callee(spec.CalleeInventory, of.Plugin, true)
	if callee == nil && err == nil {
		callee, err = r.Callee(spec.CalleeInventory, of.Plugin, false)
	}
	switch {
	case err != nil:
		return nil, err
	case callee == nil:
		return nil, &spec.PluginError{
			Text: "there is no inventory plugin `" + of.Plugin + "`",
			Hint: "put it into plugins/ or inventory_plugins/ next to the playbook, or install the collection that has it",
		}
	case callee.Untrusted:
		return nil, Untrusted(r.shownPath(callee.Path), callee.Path)
	}
	request, err := json.Marshal(map[string]any{
		"do": "inventory", "kind": callee.Kind, "name": of.Plugin, "given": callee.Given, "module": callee.Module, "path": callee.Path,
		"digest": callee.Digest, "members": callee.Members, "dir": of.Root, "source": of.Source,
	})
	if err != nil {
		return nil, err
	}
	return python(of.Root, "the inventory plugin "+of.Plugin, request)
}

// InventoryFiles are the files that run when a plugin reads an inventory, as far as they came with the playbook.
func (r *Registry) InventoryFiles(name string) (files []spec.Member) {
	if f := r.lookUp(name); f != nil && f.Local && f.Digest != "" {
		return []spec.Member{{Path: f.Path, Digest: f.Digest, Brought: true}}
	}
	for _, own := range []bool{true, false} {
		if c, err := r.Callee(spec.CalleeInventory, name, own); err == nil && c != nil {
			for _, file := range c.Files() {
				if file.Brought {
					files = append(files, file)
				}
			}
			return files
		}
	}
	return nil
}
