package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
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

// Question is what is asked of a plugin that carries out no step: the kind of work, its name, and arguments as a program has them.
type Question struct {
	Kind, Name string
	Args       []string
	Root       string // the directory of the playbook
	Host       *Host  // asks those of moon's protocol
	Python     Python // asks those in Python, for Ansible
}

// Python has a file in Python do something, as exec/python does.
type Python func(root, what string, request []byte) (json.RawMessage, error)

// answering is who answers questions of each kind: a kind that is not here is not asked while planning.
var answering = map[string]func(ctx context.Context, r *Registry, q *Question) ([]byte, error){
	Inventory:  askInventory,
	Connection: askConnection,
	Parse:      askParser,
}

// Ask has a plugin answer.
func (r *Registry) Ask(ctx context.Context, q *Question) ([]byte, error) {
	ask := answering[q.Kind]
	if ask == nil {
		return nil, &spec.PluginError{Text: "plugins of the kind `" + q.Kind + "` are not asked"}
	}
	return ask(ctx, r, q)
}

// argument reads an argument that is a JSON object, if it is there.
func (q *Question) argument(i int) (map[string]any, error) {
	args := map[string]any{}
	if i >= len(q.Args) {
		return args, nil
	}
	err := decodeJSON([]byte(q.Args[i]), &args)
	return args, err
}

// askInventory has a plugin read a source: the first argument, and what else its file says. One of moon's protocol counts before one that
// is written in Python for Ansible.
func askInventory(ctx context.Context, r *Registry, q *Question) ([]byte, error) {
	c, err := r.Capable(Inventory, q.Name)
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		args, err := q.argument(1)
		if err != nil {
			return nil, err
		}
		return q.Host.Inventory(ctx, c, q.Args[0], args)
	}
	callee, err := r.inventoryCallee(q.Name)
	switch {
	case err != nil:
		return nil, err
	case callee == nil:
		return nil, &spec.PluginError{
			Text: "there is no inventory plugin `" + q.Name + "`",
			Hint: "put it into plugins/ or inventory_plugins/ next to the playbook, or install the collection that has it",
		}
	case callee.Untrusted:
		return nil, Untrusted(r.shownPath(callee.Path), callee.Path)
	}
	request, err := json.Marshal(map[string]any{
		"do": "inventory", "kind": callee.Kind, "name": q.Name, "given": callee.Given, "module": callee.Module, "path": callee.Path,
		"digest": callee.Digest, "members": callee.Members, "dir": q.Root, "source": q.Args[0],
	})
	if err != nil {
		return nil, err
	}
	return q.Python(q.Root, "the inventory plugin "+q.Name, request)
}

// inventoryCallee is the file in Python that has an inventory plugin.
func (r *Registry) inventoryCallee(name string) (*spec.Callee, error) {
	c, err := r.Callee(spec.CalleeInventory, name, true)
	if c == nil && err == nil {
		c, err = r.Callee(spec.CalleeInventory, name, false)
	}
	return c, err
}

// askConnection has a plugin say by which program a host is reached: {argv}, and {terminal} where that differs if a terminal is needed.
// The argument is what is known of the host.
func askConnection(ctx context.Context, r *Registry, q *Question) ([]byte, error) {
	c, err := r.Capable(Connection, q.Name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("there is no connection plugin `%s`: %w", q.Name, fs.ErrNotExist)
	}
	params, err := q.argument(0)
	if err != nil {
		return nil, err
	}
	return q.Host.callCapability(ctx, c, Connection, params)
}

// Parser implements plan.Plugins: the first plugin, by name, with a pattern that matches the name of the file. Only now they are asked
// what they can do; those that are not trusted are named instead.
func (r *Registry) Parser(file string) (name string, unasked []string) {
	for _, f := range r.All() {
		switch {
		case f.Library:
			continue
		case !r.Trusted(f):
			if f.Local {
				unasked = append(unasked, f.Path)
			}
			continue
		case r.Load(f) != nil: // it cannot be asked; who names it learns why
			continue
		}
		for _, c := range f.said.Capabilities {
			matches := func(glob string) bool {
				ok, _ := path.Match(glob, filepath.Base(file)) // it was checked when it was read
				return ok
			}
			if c.Kind == Parse && slices.ContainsFunc(c.Globs, matches) {
				return c.Name, nil
			}
		}
	}
	return "", unasked
}

// askParser has a plugin read a file: the arguments are its name and the digest of its text, so that what was planned with is what the
// plugin has read.
func askParser(ctx context.Context, r *Registry, q *Question) ([]byte, error) {
	c, err := r.Capable(Parse, q.Name)
	if err != nil {
		return nil, err
	}
	if c == nil || len(q.Args) != 2 {
		return nil, &spec.PluginError{
			Text: "there is no plugin `" + q.Name + "`, which has read " + strings.Join(q.Args[:min(1, len(q.Args))], ""),
			Hint: "put it into plugins/ next to the playbook",
		}
	}
	file := q.Args[0]
	if !filepath.IsAbs(file) {
		file = filepath.Join(q.Root, file)
	}
	text, err := readText(file)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))); hex.EncodeToString(sum[:]) != q.Args[1] {
		return nil, fmt.Errorf("%s was edited in the meantime", q.Args[0])
	}
	return q.Host.Parse(ctx, c, file, string(text))
}

// readText reads a file that a plugin is given as a whole.
func readText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxLine: // a pipe must not be opened
		return nil, fmt.Errorf("%s is not a file, or more than %d MB", path, maxLine>>20)
	}
	return os.ReadFile(path)
}

// calleeOfPlugin finds a filter or a lookup of a plugin of moon's protocol; nil if no plugin is called so. One that is not trusted is not
// asked what it has, and taken to have it. The error is that of a plugin which has none of that name, or cannot be asked.
func (r *Registry) calleeOfPlugin(kind, name string) (*spec.Callee, error) {
	if !slices.Contains(kinds, kind) { // moon's protocol has no tests
		return nil, nil
	}
	c, err := r.Capable(kind, name)
	f := r.lookUp(name)
	if f == nil || f.Library {
		return nil, nil
	}
	callee := &spec.Callee{Kind: kind, Name: name, Given: name, Path: f.Path, Digest: f.Digest, Brought: f.Local, Protocol: Protocol}
	switch {
	case c != nil:
		callee.Speaks = c.Plugin.Speaks
		return callee, nil
	case f.Digest != "" && !r.Trusted(f):
		callee.Untrusted, callee.Barred = true, true
		return callee, nil
	}
	return nil, err
}

// Value has a plugin give what a filter or a lookup in a template comes to. The parameters are a JSON object.
func (h *Host) Value(ctx context.Context, c *spec.Callee, params []byte) (json.RawMessage, error) {
	p := &spec.Plugin{Action: c.Name, Path: c.Path, Digest: c.Digest, Speaks: c.Speaks, Brought: c.Brought}
	text, err := h.Ask(ctx, p, c.Kind, json.RawMessage(params))
	if err != nil {
		return nil, err
	}
	var said struct {
		Value json.RawMessage `json:"value"`
		Error string          `json:"error"`
	}
	switch err := json.Unmarshal(text, &said); {
	case err == nil && said.Error != "":
		return nil, &ValueError{said.Error}
	case err != nil || said.Value == nil:
		return nil, fmt.Errorf("%s answered %s, which has no `value`", namePlugin(p), quoteText(text))
	}
	return said.Value, nil
}

// ValueError is what a plugin says in the place of a value.
type ValueError struct{ Text string }

// Error implements error.
func (e *ValueError) Error() string { return e.Text }

// Files are the files that run when a plugin is asked, as far as they came with the playbook.
func (r *Registry) Files(kind, name string) (files []spec.Member) {
	if f := r.lookUp(name); f != nil && !f.Library {
		if f.Local && f.Digest != "" {
			files = append(files, spec.Member{Path: f.Path, Digest: f.Digest, Brought: true})
		}
		return files
	}
	if kind != Inventory {
		return nil
	}
	c, err := r.inventoryCallee(name)
	if err != nil || c == nil {
		return nil
	}
	for _, file := range c.Files() {
		if file.Brought {
			files = append(files, file)
		}
	}
	return files
}
