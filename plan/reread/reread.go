package reread

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret/vault"
)

// Where the result of the step has what the sources have said, and that this may not be kept, as there are secrets in it that are new.
const (
	Field  = "inventory"
	Unkept = "new_secrets"
)

// Sources are what an inventory is read from.
type Sources struct {
	Named []string // files, directories, programs and lists of hosts, as inventory.Load takes them
	Root  string   // the directory of the playbook
	Shown func(path string) string
	// Decrypt opens a file that is encrypted as a whole.
	Decrypt func(text []byte) ([]byte, error)
}

// Again reports whether there is anything to read again: a list of hosts always says the same.
func (s *Sources) Again() bool {
	for _, source := range s.Named {
		if !inventory.IsList(source) {
			return true
		}
	}
	return false
}

// Reading is what the sources have said.
type Reading struct {
	Said    map[string]any // as Disk takes it
	Secrets []string       // values of which their names say that they are secret
}

// Read reads the sources. run starts a program. A source that cannot be read is an error: hosts that it had would be missing.
func Read(s Sources, run func(path string, args ...string) ([]byte, error)) (Reading, error) {
	d := source.NewDisk(nil)
	var ds diag.List
	inv := inventory.Load(s.Named, s.Root, inventory.Files{
		Read: func(path string) (*playbook.File, error) { return s.read(d, path) },
		List: d.List, Kind: d.Kind,
		Run: func(path string, args ...string) ([]byte, error) {
			text, err := run(path, args...)
			if err == nil {
				d.Files[key(path, args)] = &source.FileSeen{Text: text, Program: path, Args: args}
			}
			return text, err
		},
		Shown: s.Shown,
	}, &ds)
	for _, one := range ds {
		if one.Severity == diag.Error {
			text := one.Message
			if one.Pos.File != "" {
				text = one.Pos.File + ": " + text
			}
			return Reading{}, errors.New(text)
		}
	}
	said, err := plain(d)
	return Reading{Said: said, Secrets: secretsOf(inv, s.Root)}, err
}

// read gives a file with its text, decrypted if all of it is encrypted. Single values stay encrypted: nothing is done with them here.
func (s *Sources) read(d *source.Disk, path string) (*playbook.File, error) {
	seen, err := d.Read(path)
	if err != nil {
		return nil, err
	}
	f := &playbook.File{Name: s.Shown(path), Path: path, Text: seen.Text}
	f.Decrypt = func(string) (text, wrong, hint string) { return "", "", "" }
	if vault.Is(f.Text) {
		f.Text, err = s.Decrypt(f.Text)
		f.Secret = true
	}
	return f, err
}

func key(program string, args []string) string { return program + " " + strings.Join(args, " ") }

// plain is what a disk has read, as data that JSON can hold. Files that may not be kept are missing: the plan reads them itself.
func plain(d *source.Disk) (map[string]any, error) {
	files, lists, printed := map[string]any{}, map[string]any{}, []any{}
	for path, f := range d.Files {
		switch {
		case !utf8.Valid(f.Text):
			return nil, fmt.Errorf("what %s says is not UTF-8", path)
		case f.Program != "":
			printed = append(printed, map[string]any{"program": f.Program, "args": anyList(f.Args), "text": string(f.Text)})
		case !f.Secret:
			files[path] = string(f.Text)
		}
	}
	for dir, names := range d.Lists {
		lists[dir] = anyList(names)
	}
	return map[string]any{"files": files, "lists": lists, "printed": printed}, nil
}

func anyList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// secretsOf are the values that are known to be secret by their names.
func secretsOf(inv *inventory.Inventory, root string) (secrets []string) {
	for _, h := range inv.Hosts {
		for _, l := range inv.Layers(h, root) {
			for _, v := range l.Vars {
				if inventory.IsSecret(v.Name) && v.Value.Kind() == playbook.String && !strings.Contains(v.Value.Text(), "{{") {
					secrets = append(secrets, v.Value.Text())
				}
			}
		}
	}
	return secrets
}

// Is reports whether data is what the sources have said.
func Is(said map[string]any) bool {
	_, files := said["files"].(map[string]any)
	_, lists := said["lists"].(map[string]any)
	_, printed := said["printed"].([]any)
	return files && lists && printed && len(said) == 3
}

// Disk is one that has nothing but what the sources have said.
func Disk(said map[string]any) *source.Disk {
	d := source.NewDisk(nil)
	d.Closed = true
	files, _ := said["files"].(map[string]any)
	for path, text := range files {
		d.Files[path] = seen(text)
	}
	lists, _ := said["lists"].(map[string]any)
	for dir, names := range lists {
		d.Lists[dir] = textsOf(names)
	}
	printed, _ := said["printed"].([]any)
	for _, one := range printed {
		of, _ := one.(map[string]any)
		program, _ := of["program"].(string)
		args := textsOf(of["args"])
		f := seen(of["text"])
		f.Program, f.Args = program, args
		d.Files[key(program, args)] = f
	}
	return d
}

func seen(text any) *source.FileSeen {
	s, _ := text.(string)
	return &source.FileSeen{Text: []byte(s), Digest: source.DigestOf([]byte(s))}
}

func textsOf(v any) []string {
	list, _ := v.([]any)
	texts := make([]string, 0, len(list))
	for _, one := range list {
		if text, ok := one.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// Printed is what a program has printed.
func Printed(d *source.Disk, program string, args ...string) ([]byte, error) {
	f := d.Files[key(program, args)]
	if f == nil {
		return nil, source.NotThere(program)
	}
	return f.Text, nil
}
