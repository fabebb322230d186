package inventory_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/diag"
	"moon/plan/inventory"
)

func names(hosts []*inventory.Host) string {
	var all []string
	for _, h := range hosts {
		all = append(all, h.Name)
	}
	return strings.Join(all, " ")
}

func groups(h *inventory.Host) string {
	var all []string
	for _, g := range h.Groups {
		all = append(all, g.Name)
	}
	return strings.Join(all, " ")
}

// TestAdd adds hosts and groups as add_host and group_by do. What comes new has its variables too.
func TestAdd(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hosts": "a\nb\n[web]\nw\n", "group_vars/all.yml": "x: all\n", "group_vars/new.yml": "x: new\n", "group_vars/top.yml": "x: top\ny: top\n", "host_vars/c.yml": "z: c\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var ds diag.List
	inv := inventory.Load([]string{filepath.Join(dir, "hosts")}, dir, disk(dir), &ds)
	a := inv.Host("a")
	if got := fmt.Sprint(inv.Vars(a)); got != "map[x:all]" {
		t.Error(got)
	}
	c := inv.AddHost("c", []string{"new", "web"})
	if got := fmt.Sprint(groups(c), inv.Vars(c)); got != "all new webmap[x:new z:c]" {
		t.Error(got)
	}
	if d := inv.AddHost("d", nil); groups(d) != "all ungrouped" || inv.AddHost("d", nil) != d {
		t.Error(groups(d))
	}
	inv.AddToGroup(a, "new", nil)
	if groups(a) != "all new" || names(inv.Group("ungrouped").Hosts) != "b d" {
		t.Error(groups(a), names(inv.Group("ungrouped").Hosts))
	}
	inv.AddToGroup(a, "new", []string{"top", "new", "all"}) // c is below top as well now
	if groups(a) != "all top new" || groups(c) != "all top web new" || inv.Group("new").Depth != 2 {
		t.Error(groups(a), groups(c), inv.Group("new").Depth)
	}
	if got := fmt.Sprint(inv.Vars(c)); got != "map[x:new y:top z:c]" {
		t.Error(got)
	}
	inv.AddToGroup(inv.Host("b"), "fresh", []string{"web"})
	if hosts, err := inv.Match("web"); err != nil || names(hosts) != "w c b" {
		t.Error(names(hosts), err)
	}
	here := inv.Host("127.0.0.1")
	if !here.Implicit || inv.Host("localhost") != here || fmt.Sprint(inv.Vars(here)) != "map[ansible_connection:local x:all]" {
		t.Errorf("%v %v", here, inv.Vars(here))
	}
	inv.AddToGroup(here, "mine", nil)
	if hosts, err := inv.Match("mine:all"); err != nil || names(hosts) != "127.0.0.1 b d w c a" && names(hosts) != "127.0.0.1 b d w a c" && len(hosts) != 6 {
		t.Error(names(hosts), err)
	}
	if hosts, err := inv.Match("all"); err != nil || strings.Contains(names(hosts), "127") {
		t.Error(names(hosts), err)
	}
	if len(ds) > 0 {
		t.Error(ds)
	}
}

func TestLimit(t *testing.T) {
	var ds diag.List
	inv := inventory.Load([]string{"/hosts"}, "", memory(map[string]string{"/hosts": fewHosts}), &ds)
	read := func(file string) ([]byte, error) {
		if file != "list.txt" {
			return nil, fs.ErrNotExist
		}
		return []byte("web2\r\n\n  one\n!web1\n"), nil
	}
	all, err := inv.Match("site")
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]string{
		"web":             "web1 web2 web3 10.0.0.1",
		"@list.txt":       "web2",
		"@list.txt,db":    "db-a web2",
		"one":             "",
		"db:!web1":        "db-a",
		"web[0]":          "web1",
		"web3,nope":       "web3 ! no host or group matches `nope`",
		"nope":            " ! no host or group matches `nope`",
		"@gone":           " ! the limit @gone cannot be read: there is no such file",
		"localhost":       "",
		"~db|one":         "db-a web1",
		"web[9]":          " ! `web[9]` is not there: `web` has 4 of them, the first is [0]",
		"":                "",
		"!web":            "db-a",
		"10.0.0.1:&web,,": "10.0.0.1",
	} {
		hosts, err := inv.Limit(all, limit, read)
		got := map[string]bool{}
		for _, h := range hosts {
			got[h.Name] = true
		}
		said := ""
		if err != nil {
			said = " ! " + err.Error()
		}
		hostsWanted, _, _ := strings.Cut(want, " ! ")
		ok := strings.HasSuffix(want, said) && len(strings.Fields(hostsWanted)) == len(got) && (err != nil) == strings.Contains(want, "!")
		for name := range strings.FieldsSeq(hostsWanted) {
			ok = ok && got[name]
		}
		if !ok {
			t.Errorf("%q: %s%s, want %s", limit, names(hosts), said, want)
		}
	}
	if names(all) == "" || errors.Is(err, fs.ErrNotExist) {
		t.Error(names(all))
	}
}

// BenchmarkLoad reads an inventory of 1,000 hosts in ten groups, with variables for each, and finds the layers of all.
func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	for g := range 10 {
		fmt.Fprintf(&text, "[g%d]\n", g)
		for h := range 1000 {
			if h%10 == g || h%7 == g {
				fmt.Fprintf(&text, "host%d a=%d b='text' c=[1,2]\n", h, h)
			}
		}
		fmt.Fprintf(&text, "[g%d:vars]\nv=%d\n", g, g)
	}
	files := memory(map[string]string{"/hosts": text.String()})
	b.ReportAllocs()
	for b.Loop() {
		var ds diag.List
		inv := inventory.Load([]string{"/hosts"}, "", files, &ds)
		if len(inv.Hosts) != 1000 || len(ds) > 0 {
			b.Fatal(len(inv.Hosts), ds)
		}
		for _, h := range inv.Hosts {
			inv.Layers(h, "")
		}
	}
}
