package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan/saved"
	"moon/plan/source"
)

// planOf is a saved plan of sources, as far as a pack looks at it.
func planOf(t *testing.T, root string, s saved.Sources) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"root": root, "root_file": "site.yml", "sources": s})
	if err != nil {
		t.Fatal(err)
	}
	return []byte("{\n  \"format\": 1,\n  \"root\": \"" + root + "\",\n" + strings.TrimPrefix(string(text), "{"))
}

// packOf is a pack with entries of any name.
func packOf(t *testing.T, entries map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for name, text := range entries {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if _, werr := io.WriteString(w, text); err != nil || werr != nil {
			t.Fatal(err, werr)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostilePacks unpacks what no pack should be: nothing is written outside of the directory.
func TestHostilePacks(t *testing.T) {
	text := "text"
	plain := saved.Sources{Playbook: "site.yml", Files: []saved.SourceFile{{Path: "site.yml", Text: &text}}}
	odd := func(change func(*saved.Sources)) saved.Sources {
		s := plain
		change(&s)
		return s
	}
	const places = `[{"from":"/srv/play","to":"files"}]`
	for name, one := range map[string]struct {
		entries map[string]string
		sources saved.Sources
	}{
		"an entry above":       {map[string]string{placesName: places, "../evil": "x"}, plain},
		"an absolute entry":    {map[string]string{placesName: places, "/tmp/evil": "x"}, plain},
		"a place above":        {map[string]string{placesName: `[{"from":"/srv/play","to":"../evil"}]`}, plain},
		"an absolute place":    {map[string]string{placesName: `[{"from":"/srv/play","to":"/tmp/evil"}]`}, plain},
		"a place of no path":   {map[string]string{placesName: `[{"from":"rm","to":"evil"}]`}, plain},
		"no places":            {map[string]string{}, plain},
		"places that are none": {map[string]string{placesName: `"evil"`}, plain},
		"a source above": {map[string]string{placesName: places}, odd(func(s *saved.Sources) {
			s.Files = []saved.SourceFile{{Path: "../../evil", Text: &text}, {Path: "/srv/play/../../evil", Text: &text}}
		})},
		"what a step reads above": {map[string]string{placesName: places}, odd(func(s *saved.Sources) {
			s.Reads = []saved.SourceRead{{Path: "dir", Dir: true, Entries: [][4]string{{"/../../../evil", "directory", "0755", ""}}}}
		})},
		"a link above": {map[string]string{placesName: places}, odd(func(s *saved.Sources) {
			s.Reads = []saved.SourceRead{{Path: "dir", Dir: true, Entries: [][4]string{{"/../../../evil", "link", "", "/etc"}}}}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "a/job")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			one.entries[planName] = string(planOf(t, "/srv/play", one.sources))
			_, err := Unpack(packOf(t, one.entries), dir, true)
			if err == nil && !strings.HasPrefix(name, "a source") { // its text is only left out, and the plan is refused without
				t.Error("it was unpacked")
			}
			walked := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
				if strings.Contains(path, "evil") {
					t.Errorf("it made %s", path)
				}
				return err
			})
			if _, serr := os.Stat("/tmp/evil"); walked != nil || serr == nil {
				t.Errorf("it made /tmp/evil; %v", walked)
			}
		})
	}
	for _, text := range []string{"", "no pack", "\x1f\x8b"} {
		if _, err := Unpack([]byte(text), t.TempDir(), true); err == nil {
			t.Errorf("%q was unpacked", text)
		}
	}
}

// TestNoSecretsInPacks packs a plan whose steps read files with secrets.
func TestNoSecretsInPacks(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"open.txt", "a.secret.yml", "only-no-log.txt", "near.txt"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := saved.Sources{
		Playbook: "site.yml", Files: []saved.SourceFile{{Path: "a.secret.yml", Secret: true}},
		Reads: []saved.SourceRead{{Path: "open.txt", Digest: "d"}, {Path: "only-no-log.txt", Secret: true}, {Path: "a.secret.yml", Secret: true}},
	}
	packed, err := Make(planOf(t, root, s))
	if err != nil {
		t.Fatal(err)
	}
	_, places, entries, err := open(packed)
	if err != nil || len(places) != 1 || len(entries) != 1 || string(entries["files/open.txt"].text) != "text of open.txt" {
		t.Errorf("%v, %v, %v", places, entries, err)
	}
	if _, err := Unpack(packed, t.TempDir(), true); err == nil || !strings.Contains(err.Error(), "a.secret.yml holds secrets") {
		t.Errorf("it was unpacked: %v", err)
	}
}

// TestPlaces says which directories go together.
func TestPlaces(t *testing.T) {
	named := "see /home/ada/x"
	file := func(path string) saved.SourceFile { return saved.SourceFile{Path: path, Text: new(string)} }
	for name, one := range map[string]struct {
		s    saved.Sources
		want source.Moved
	}{
		"alone": {saved.Sources{Files: []saved.SourceFile{file("site.yml")}}, source.Moved{{From: "/home/ada/p/books", To: "files"}}},
		"roles next to it": {
			saved.Sources{Files: []saved.SourceFile{file("site.yml"), file("/home/ada/p/roles/r/tasks/main.yml")}},
			source.Moved{{From: "/home/ada/p", To: "files"}},
		},
		"roles at home, which the playbook names": {
			saved.Sources{
				Files: []saved.SourceFile{{Path: "site.yml", Text: &named}, file("/home/ada/roles/r/tasks/main.yml")},
				Plays: saved.PlaySources{RolesPath: []string{"/etc/ansible/roles", "/home/ada/roles"}},
			},
			source.Moved{{From: "/home/ada/p/books", To: "files"}, {From: "/home/ada/roles", To: "more01"}},
		},
		"an inventory elsewhere": {
			saved.Sources{
				Files: []saved.SourceFile{file("/etc/inv/hosts"), file("/etc/inv/group_vars/all.yml")},
				Plays: saved.PlaySources{Inventory: []string{"/etc/inv/hosts"}},
			},
			source.Moved{{From: "/home/ada/p/books", To: "files"}, {From: "/etc/inv", To: "more01"}},
		},
		"a file that is named": {saved.Sources{Files: []saved.SourceFile{file("/etc/motd")}}, source.Moved{{From: "/home/ada/p/books", To: "files"}}},
	} {
		d := document{Root: "/home/ada/p/books", Sources: &one.s}
		got := d.places()
		if len(got) != len(one.want) {
			t.Errorf("%s: %v, want %v", name, got, one.want)
			continue
		}
		for i := range got {
			if got[i] != one.want[i] {
				t.Errorf("%s: %v, want %v", name, got, one.want)
			}
		}
	}
}
