package inventory_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"moon/internal/diag"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// disk reads below a directory. Programs are not started: what they would print lies beside them, in NAME.--list and so on.
func disk(dir string) inventory.Files {
	shown := func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil {
			return rel
		}
		return path
	}
	return inventory.Files{
		Shown: shown,
		Read: func(path string) (*playbook.File, error) {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			return &playbook.File{Name: shown(path), Path: path, Text: text, Secret: strings.HasSuffix(path, ".secret.yml")}, nil
		},
		List: func(dir string) ([]string, error) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names, nil
		},
		Kind: func(path string) (dir, executable bool, err error) {
			info, err := os.Stat(path)
			if err != nil {
				return false, false, err
			}
			return info.IsDir(), info.Mode()&0o111 != 0, nil
		},
		Run: func(path string, args ...string) ([]byte, error) {
			out, err := os.ReadFile(path + "." + strings.Join(args, "."))
			if errors.Is(err, fs.ErrNotExist) {
				return nil, errors.New("exit status 1: traceback")
			}
			return out, err
		},
	}
}

// fixture is an archive of inventories, unpacked. Its comment has a line `# args: -i SOURCE …`; with more than the usual lists of
// hosts there are patterns, one a line, in the file "patterns".
type fixture struct {
	dir     string
	ar      *txtar.Archive
	sources []string // as given
	inv     *inventory.Inventory
	ds      diag.List
}

func unpack(tb testing.TB, file string) *fixture {
	tb.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	fx := &fixture{dir: dir, ar: ar}
	for _, f := range ar.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(f.Name, "programs/") && filepath.Ext(f.Name) == ".sh" {
			mode = 0o755
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			tb.Fatal(err)
		}
	}
	_, args, _ := strings.Cut(string(ar.Comment), "# args: ")
	args, _, _ = strings.Cut(args, "\n")
	for word := range strings.FieldsSeq(args) {
		if word != "-i" {
			fx.sources = append(fx.sources, word)
		}
	}
	fx.load()
	return fx
}

func (fx *fixture) load() {
	var sources []string
	for _, s := range fx.sources {
		if !strings.Contains(s, ",") {
			s = filepath.Join(fx.dir, s)
		}
		sources = append(sources, s)
	}
	fx.ds = nil
	fx.inv = inventory.Load(sources, fx.dir, disk(fx.dir), &fx.ds)
}

func fixtures(tb testing.TB, pattern string) map[string]*fixture {
	tb.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		tb.Fatal("no fixtures", err)
	}
	all := map[string]*fixture{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".txtar")] = unpack(tb, file)
	}
	return all
}

// TestInventories reads every testdata/*.txtar and compares what it says with the fixture: the file "want" has the hosts and groups,
// and what patterns stand for; "diagnostics" what is wrong.
func TestInventories(t *testing.T) {
	for name, fx := range fixtures(t, "testdata/*.txtar") {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{"want": dump(t, fx)}
			if len(fx.ds) > 0 {
				fx.ds.Sort()
				fx.ds.Locate(func(file string) []string {
					text, err := os.ReadFile(filepath.Join(fx.dir, file))
					if err != nil {
						return nil
					}
					return strings.Split(string(text), "\n")
				})
				var b bytes.Buffer
				if err := fx.ds.Print(&b); err != nil {
					t.Fatal(err)
				}
				got["diagnostics"] = b.String()
			}
			compare(t, filepath.Join("testdata", name+".txtar"), fx.ar, got)
		})
	}
}

// compare holds what was got against the files of that name in an archive, or writes them there.
func compare(t *testing.T, path string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	update := os.Getenv("UPDATE") != ""
	for _, name := range []string{"diagnostics", "want"} {
		text, ok := got[name]
		at := -1
		for i, f := range ar.Files {
			if f.Name == name {
				at = i
			}
		}
		switch {
		case update && at >= 0 && ok:
			ar.Files[at].Data = []byte(text)
		case update && at >= 0:
			ar.Files = append(ar.Files[:at], ar.Files[at+1:]...)
		case update && ok:
			ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(text)})
		case !ok && at >= 0:
			t.Errorf("there are no %s; want\n%s", name, ar.Files[at].Data)
		case ok && (at < 0 || string(ar.Files[at].Data) != text):
			t.Errorf("%s: got\n%s", name, text)
		}
	}
	if update {
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func dump(t *testing.T, fx *fixture) string {
	t.Helper()
	var b strings.Builder
	inv := fx.inv
	if err := inv.WriteGraph(&b, inv.Group("all"), inv.Hosts, false); err != nil {
		t.Fatal(err)
	}
	for _, h := range inv.Hosts {
		fmt.Fprintf(&b, "\n%s", h.Name)
		for _, g := range h.Groups {
			fmt.Fprintf(&b, " @%s", g.Name)
		}
		b.WriteString("\n")
		for _, l := range inv.Layers(h, fx.dir) {
			fmt.Fprintf(&b, "  %s\n", l.From)
			for _, v := range l.Vars {
				pos := v.Value.Pos()
				text := v.Value.Text()
				if v.Value.Secret() {
					text = "(secret)"
				}
				fmt.Fprintf(&b, "    %s = %s %q  %s:%d:%d\n", v.Name, v.Value.Kind(), text, pos.File, pos.Line, pos.Column)
			}
		}
	}
	for _, f := range fx.ar.Files {
		if f.Name != "patterns" {
			continue
		}
		b.WriteString("\n")
		for pattern := range strings.Lines(string(f.Data)) {
			pattern = strings.TrimSuffix(pattern, "\n")
			hosts, err := inv.Match(pattern)
			fmt.Fprintf(&b, "%-16s", pattern)
			for _, h := range hosts {
				b.WriteString(" " + h.Name)
			}
			if err != nil {
				fmt.Fprintf(&b, " ! %s", err)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
