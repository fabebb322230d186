package inventory_test

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// memory is a disk of texts: by path, without directories but those of variables, which are empty.
func memory(texts map[string]string) inventory.Files {
	return inventory.Files{
		Read: func(name string) (*playbook.File, error) {
			text, ok := texts[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return &playbook.File{Name: name, Path: name, Text: []byte(text)}, nil
		},
		List: func(string) ([]string, error) { return nil, fs.ErrNotExist },
		Kind: func(name string) (dir, executable bool, err error) {
			if _, ok := texts[name]; !ok {
				return false, false, fs.ErrNotExist
			}
			return false, false, nil
		},
	}
}

// whole checks what must hold of any inventory.
func whole(t *testing.T, inv *inventory.Inventory) {
	t.Helper()
	if all := inv.Group("all").All(); len(all) != len(inv.Hosts) { // the pattern all may be a host of that name
		t.Fatalf("all are %d of %d hosts", len(all), len(inv.Hosts))
	}
	in := map[*inventory.Group]map[*inventory.Host]bool{}
	for _, g := range inv.Groups {
		in[g] = map[*inventory.Host]bool{}
		for _, h := range g.All() {
			in[g][h] = true
		}
	}
	for _, h := range inv.Hosts {
		if inv.Host(h.Name) != h || len(h.Groups) < 2 || h.Groups[0].Name != "all" {
			t.Fatalf("host %q is in %d groups", h.Name, len(h.Groups))
		}
		for _, g := range h.Groups {
			if !in[g][h] {
				t.Fatalf("host %q is not among those of %q", h.Name, g.Name)
			}
		}
		inv.Vars(h)
	}
	for _, g := range inv.Groups {
		if inv.Group(g.Name) != g {
			t.Fatalf("group %q is not found", g.Name)
		}
		for _, p := range g.Parents {
			if p.Depth >= g.Depth || !slices.Contains(p.Children, g) {
				t.Fatalf("group %q is not deeper than its parent %q", g.Name, p.Name)
			}
		}
	}
}

// fuzzSeeds are the files of the fixtures whose names begin with hosts, of a kind.
func fuzzSeeds(f *testing.F, yaml bool) {
	f.Helper()
	for _, fx := range fixtures(f, "testdata/*.txtar") {
		for _, file := range fx.ar.Files {
			if ext := path.Ext(file.Name); strings.HasPrefix(file.Name, "hosts") && (ext == ".yml" || ext == ".yaml" || ext == ".json") == yaml {
				f.Add(string(file.Data))
			}
		}
	}
}

// FuzzINI reads any text as an inventory of lines.
func FuzzINI(f *testing.F) {
	fuzzSeeds(f, false)
	f.Fuzz(func(t *testing.T, text string) { checkInventory(t, "/hosts.ini", text) })
}

// FuzzInventory reads any text as an inventory in YAML.
func FuzzInventory(f *testing.F) {
	fuzzSeeds(f, true)
	f.Fuzz(func(t *testing.T, text string) { checkInventory(t, "/hosts.yml", text) })
}

// checkInventory reads an inventory: no panic, every diagnostic in a line of the file, every value at a place in it.
func checkInventory(t *testing.T, name, text string) {
	t.Helper()
	if strings.Count(text, "[") > 20 || len(text) > 10_000 { // ranges make many hosts of few bytes
		return
	}
	watchdog := time.AfterFunc(10*time.Second, func() { panic("reading does not end") })
	defer watchdog.Stop()
	var ds diag.List
	inv := inventory.Load([]string{name}, "", memory(map[string]string{name: text}), &ds)
	if len(inv.Hosts) > 1000 {
		return
	}
	whole(t, inv)
	lines := (&playbook.File{Text: []byte(strings.TrimPrefix(text, "\ufeff"))}).Lines()
	at := func(pos diag.Pos) {
		if pos.Line < 1 {
			return
		}
		if pos.Line > len(lines) || pos.Column < 1 || pos.Column > utf8.RuneCountInString(lines[pos.Line-1])+1 {
			t.Fatalf("a place outside of the file: %d:%d", pos.Line, pos.Column)
		}
	}
	for _, d := range ds {
		at(d.Pos)
	}
	for _, h := range inv.Hosts {
		at(h.Pos)
		for _, l := range inv.Layers(h, "") {
			for _, v := range l.Vars {
				at(v.Value.Pos())
				v.Value.PosAt(len(v.Value.Text()) / 2)
			}
		}
	}
}

const fewHosts = "one\n[web]\nweb[1:3]\n10.0.0.1\n[db]\ndb-a\nweb1\n[site:children]\nweb\ndb\n[empty]\n"

// FuzzMatch matches any pattern: no panic, hosts of the inventory each once, and the limit of a pattern gives what the pattern gives.
func FuzzMatch(f *testing.F) {
	for _, fx := range fixtures(f, "testdata/*.txtar") {
		for _, p := range fx.patterns() {
			f.Add(p)
		}
	}
	var ds diag.List
	inv := inventory.Load([]string{"/hosts"}, "", memory(map[string]string{"/hosts": fewHosts}), &ds)
	if len(ds) > 0 {
		f.Fatal(ds)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		hosts, err := inv.Match(pattern)
		var missing *inventory.NoMatch
		if err != nil && !errors.As(err, &missing) && len(hosts) > 0 {
			t.Fatalf("hosts, and the mistake %s", err)
		}
		seen := map[*inventory.Host]bool{}
		for _, h := range hosts {
			if seen[h] || !h.Implicit && inv.Host(h.Name) != h {
				t.Fatalf("%q is there twice, or unknown", h.Name)
			}
			seen[h] = true
		}
		if strings.Contains(pattern, "@") || strings.Trim(pattern, ", :\t\n") == "" {
			return
		}
		limited, _ := inv.Limit(inv.Hosts, pattern, nil)
		for _, h := range inv.Hosts {
			if seen[h] != slices.Contains(limited, h) {
				t.Fatalf("%q: the limit and the pattern disagree about %s", pattern, h.Name)
			}
		}
	})
}
