package action_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fsys"
	"moon/internal/assault"
)

// packed is a member of an archive for a test: a tar header, and what is in it.
type packed struct {
	tar.Header
	content string
}

func plainFile(name, content string) packed {
	return packed{tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}, content}
}

func packedAs(typ byte, name, target string) packed {
	return packed{tar.Header{Name: name, Mode: 0o755, Typeflag: typ, Linkname: target}, ""}
}

// tarOf writes an archive, as badly as the members want it.
func tarOf(tb testing.TB, members ...packed) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if m.ModTime.IsZero() {
			m.ModTime = time.Unix(1e9, 0)
		}
		if err := w.WriteHeader(&m.Header); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(m.content)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(tb testing.TB, members ...packed) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.Name, Method: zip.Deflate, Modified: time.Unix(1e9, 0)}
		h.SetMode(fs.FileMode(m.Mode))
		if m.Typeflag == tar.TypeSymlink {
			h.SetMode(fs.ModeSymlink | 0o777)
			m.content = m.Linkname
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := f.Write([]byte(m.content)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// packing compresses, in each of the formats that can be written here.
var packing = map[string]func(tb testing.TB, data []byte) []byte{
	"tar": func(_ testing.TB, data []byte) []byte { return data },
	"tar.gz": func(tb testing.TB, data []byte) []byte {
		tb.Helper()
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(data)
		if err != nil || w.Close() != nil {
			tb.Fatal(err)
		}
		return b.Bytes()
	},
	"tar.xz": func(tb testing.TB, data []byte) []byte {
		tb.Helper()
		var b bytes.Buffer
		w, err := xz.NewWriter(&b)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err = w.Write(data); err != nil || w.Close() != nil {
			tb.Fatal(err)
		}
		return b.Bytes()
	},
	"tar.zst": func(tb testing.TB, data []byte) []byte {
		tb.Helper()
		w, err := zstd.NewWriter(nil)
		if err != nil {
			tb.Fatal(err)
		}
		return w.EncodeAll(data, nil)
	},
}

// sentinel lays a directory out with dest in the middle of what must not be touched.
func sentinel(t *testing.T) (dir, dest string) {
	t.Helper()
	dir = t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "above"), "untouched", 0o600)
	exectest.WriteFile(t, filepath.Join(dir, "beside/file"), "untouched", 0o600)
	dest = filepath.Join(dir, "dest")
	exectest.MakeDir("dest", 0o755)(t, dir)
	return dir, dest
}

func around(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(snapshot(t, dir), "a\nb", "a b")) {
		if !strings.HasPrefix(line, "dest/") && !strings.HasPrefix(line, "src") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestUnarchive(t *testing.T) {
	app := []packed{
		packedAs(tar.TypeDir, "app/", ""), plainFile("app/readme", "text\n"), plainFile("./app/bin/run", "#!/bin/sh\n"), packedAs(tar.TypeSymlink, "app/latest", "bin/run"),
	}
	app[2].Mode = 0o755
	const (
		appTree = "app drwxr-xr-x\napp/bin drwxr-xr-x\napp/bin/run -rwxr-xr-x \"#!/bin/sh\\n\"\n" +
			"app/latest Lrwxrwxrwx -> bin/run\napp/readme -rw-r--r-- \"text\\n\"\n"
	)
	tests := []struct {
		name    string
		make    func(t *testing.T, dir string)
		members []packed
		in      exectest.Args
		summary string
		text    string
		want    string
	}{
		{"new", nil, app, exectest.Args{}, "5 new: app", "+ app\n+ app/readme\n+ app/bin\n+ app/bin/run\n+ app/latest\n", appTree},
		{
			"strip", nil, app,
			exectest.Args{"strip_components": 1},
			"4 new: readme", "+ readme\n+ bin\n+ bin/run\n+ latest\n",
			strings.ReplaceAll(strings.TrimPrefix(appTree, "app drwxr-xr-x\n"), "app/", ""),
		},
		{"include", nil, app, exectest.Args{"include": "app/bin"}, "3 new: app", "+ app\n+ app/bin\n+ app/bin/run\n", "app drwxr-xr-x\napp/bin drwxr-xr-x\napp/bin/run -rwxr-xr-x \"#!/bin/sh\\n\"\n"},
		{"exclude", nil, app, exectest.Args{"exclude": []any{"*/bin", "app/l*"}}, "2 new: app", "+ app\n+ app/readme\n", "app drwxr-xr-x\napp/readme -rw-r--r-- \"text\\n\"\n"},
		{
			"updated", exectest.MakeFile("dest/app/readme", "texT\n", 0o600), app[:2],
			exectest.Args{},
			"1 updated: app/readme", "~ app/readme: content, mode 0600 → 0644\n", "app drwxr-xr-x\napp/readme -rw-r--r-- \"text\\n\"\n",
		},
		{
			"mode only", exectest.MakeFile("dest/app/readme", "text\n", 0o600), app[:2],
			exectest.Args{},
			"1 updated: app/readme", "~ app/readme: mode 0600 → 0644\n", "app drwxr-xr-x\napp/readme -rw-r--r-- \"text\\n\"\n",
		},
		{"there already", exectest.MakeFile("dest/app/readme", "text\n", 0o644), app[:2], exectest.Args{}, "", "", "app drwxr-xr-x\napp/readme -rw-r--r-- \"text\\n\"\n"},
		{"newer", exectest.MakeFile("dest/app/readme", "mine", 0o644), app[:2], exectest.Args{"keep_newer": true}, "", "", "app drwxr-xr-x\napp/readme -rw-r--r-- \"mine\"\n"},
		{"creates", exectest.MakeFile("dest/there", "", 0o644), app, exectest.Args{"creates": "DEST/there"}, "DEST/there exists", "", "there -rw-r--r-- \"\"\n"},
		{
			"digits as mode", nil, app[:2],
			exectest.Args{"mode": "0640"},
			"2 new: app", "+ app\n+ app/readme\n",
			"app drwxr-x---\napp/readme -rw-r----- \"text\\n\"\n",
		},
		{
			"symbolic mode", exectest.MakeFile("dest/app/readme", "text\n", 0o644), app[:2], exectest.Args{"mode": "go=u,go-w"}, "", "", "app drwxr-xr-x\napp/readme -rw-r--r-- \"text\\n\"\n",
		},
		{
			"the last of a name counts", nil,
			[]packed{plainFile("a", "one"), plainFile("a", "two")},
			exectest.Args{},
			"1 new: a", "+ a\n", "a -rw-r--r-- \"two\"\n",
		},
		{
			"a link over a file of the same name", nil,
			[]packed{plainFile("a", "one"), packedAs(tar.TypeSymlink, "a", "/etc/passwd")},
			exectest.Args{},
			"1 new: a", "+ a\n", "a Lrwxrwxrwx -> /etc/passwd\n",
		},
		{"names that differ in case", nil, []packed{plainFile("a", "one"), plainFile("A", "two")}, exectest.Args{}, "2 new: a", "+ a\n+ A\n", "A -rw-r--r-- \"two\"\na -rw-r--r-- \"one\"\n"},
		{
			"strange names", nil,
			[]packed{plainFile("grün 日本", "1"), plainFile("a\nb", "2"), plainFile("-rf", "3"), plainFile("x\x1b[31m", "4")},
			exectest.Args{},
			`4 new: "grün 日本"`, "+ \"grün 日本\"\n+ \"a\\nb\"\n+ -rf\n+ \"x\\x1b[31m\"\n",
			"-rf -rw-r--r-- \"3\"\na\nb -rw-r--r-- \"2\"\ngrün 日本 -rw-r--r-- \"1\"\nx\x1b[31m -rw-r--r-- \"4\"\n",
		},
		{"a slash in front", nil, []packed{plainFile("/etc/x", "1")}, exectest.Args{}, "2 new: etc", "+ etc\n+ etc/x\n", "etc drwxr-xr-x\netc/x -rw-r--r-- \"1\"\n"},
		{"a directory after what is in it", nil, []packed{plainFile("d/x", "1"), {tar.Header{Name: "d/", Typeflag: tar.TypeDir, Mode: 0o700}, ""}}, exectest.Args{}, "2 new: d", "+ d\n+ d/x\n", "d drwx------\nd/x -rw-r--r-- \"1\"\n"},
		{
			"hard links", nil,
			[]packed{plainFile("a", "one"), packedAs(tar.TypeLink, "b/c", "./a")},
			exectest.Args{},
			"3 new: a", "+ a\n+ b\n+ b/c: hard link to a\n", "a -rw-r--r-- \"one\"\nb drwxr-xr-x\nb/c -rw-r--r-- \"one\"\n",
		},
		{
			"a file that was a hard link", exectest.MakeFile("dest/b", "one", 0o644),
			[]packed{plainFile("a", "one"), packedAs(tar.TypeLink, "b", "a")},
			exectest.Args{},
			"1 new, 1 updated: a", "+ a\n~ b: hard link to a\n", "a -rw-r--r-- \"one\"\nb -rw-r--r-- \"one\"\n",
		},
		{
			"over links", linkTo("f", "dest/a"),
			[]packed{plainFile("a", "one")},
			exectest.Args{},
			"1 updated: a", "~ a: link to f → file\n", "a -rw-r--r-- \"one\"\n",
		},
		{
			"through a link that stays inside", func(t *testing.T, dir string) {
				t.Helper()
				exectest.MakeDir("dest/share", 0o755)(t, dir)
				if err := os.Symlink("share", filepath.Join(dir, "dest/man")); err != nil {
					t.Fatal(err)
				}
			},
			[]packed{packedAs(tar.TypeDir, "man", ""), plainFile("man/x", "one")},
			exectest.Args{},
			"1 new: man/x", "+ man/x\n", "man Lrwxrwxrwx -> share\nshare drwxr-xr-x\nshare/x -rw-r--r-- \"one\"\n",
		},
		{"setuid is left out", nil, []packed{{tar.Header{Name: "su", Mode: 0o6755, Size: 1}, "x"}}, exectest.Args{}, "1 new: su", "+ su\n", "su -rwxr-xr-x \"x\"\n"},
		{"nothing", nil, nil, exectest.Args{}, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for format, pack := range packing {
				dir, dest := sentinel(t)
				if tt.make != nil {
					tt.make(t, dir)
				}
				before := around(t, dir)
				exectest.WriteFile(t, filepath.Join(dir, "src"), string(pack(t, tarOf(t, tt.members...))), 0o644)
				in := exectest.Args{"src": filepath.Join(dir, "src"), "dest": dest, "owner": os.Getuid(), "group": os.Getgid()}
				for k, v := range tt.in {
					if s, ok := v.(string); ok {
						v = strings.ReplaceAll(s, "DEST", dest)
					}
					in[k] = v
				}
				r := settle(t, dir, "unarchive", in, nil)
				if summary := strings.ReplaceAll(tt.summary, "DEST", dest); r.Diff.Summary != summary || r.Diff.Text != tt.text {
					t.Errorf("%s: %q\n%s\nwant %q\n%s", format, r.Diff.Summary, r.Diff.Text, summary, tt.text)
				}
				if got := strings.TrimPrefix(snapshot(t, dest), ". drwxr-xr-x\n"); got != tt.want {
					t.Errorf("%s: got\n%s\nwant\n%s", format, got, tt.want)
				}
				if after := around(t, dir); after != before {
					t.Errorf("%s: something else was touched:\n%s\n%s", format, before, after)
				}
				if tt.in["creates"] == nil && r.Fields["format"] != format {
					t.Errorf("format %v, want %s", r.Fields["format"], format)
				}
			}
		})
	}
}

func TestUnarchiveZip(t *testing.T) {
	dir, dest := sentinel(t)
	data := zipOf(t, packed{tar.Header{Name: "d/", Mode: int64(fs.ModeDir | 0o750)}, ""}, plainFile("d/a", "text\n"), packedAs(tar.TypeSymlink, "d/l", "a"), plainFile("e/f", ""))
	exectest.WriteFile(t, filepath.Join(dir, "src"), string(data), 0o644)
	r := settle(t, dir, "unarchive", exectest.Args{"src": filepath.Join(dir, "src"), "dest": dest, "list_files": true}, nil)
	if got, want := snapshot(t, dest), ". drwxr-xr-x\nd drwxr-x---\nd/a -rw-r--r-- \"text\\n\"\nd/l Lrwxrwxrwx -> a\ne drwxr-xr-x\ne/f -rw-r--r-- \"\"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprintln(r.Fields["files"], r.Fields["format"]); got != "[d/ d/a d/l e/f] zip\n" {
		t.Errorf("files %s", got)
	}
	exectest.WriteFile(t, filepath.Join(dest, "d/a"), "texT\n", 0o644)
	if r := settle(t, dir, "unarchive", exectest.Args{"src": filepath.Join(dir, "src"), "dest": dest}, nil); r.Diff.Text != "~ d/a: content\n" {
		t.Errorf("%q", r.Diff.Text)
	}
}

// TestUnarchiveRefuses has archives that want out, or to be more than they should. Nothing of them may be written.
func TestUnarchiveRefuses(t *testing.T) {
	bomb := func(tb testing.TB) []byte {
		tb.Helper()
		return packing["tar.gz"](tb, tarOf(tb, plainFile("zeros", strings.Repeat("\x00", 128<<20))))
	}
	tests := []struct {
		name    string
		make    func(t *testing.T, dir string)
		members []packed
		data    func(testing.TB) []byte
		in      exectest.Args
		want    string
	}{
		{"up", nil, []packed{plainFile("ok", "1"), plainFile("../above", "x")}, nil, nil, "the name ../above leads out of the directory"},
		{"up and down", nil, []packed{plainFile("a/../../beside/file", "x")}, nil, nil, "leads out of the directory"},
		{"up, stripped", nil, []packed{plainFile("a/../above", "x")}, nil, exectest.Args{"strip_components": 1}, "leads out of the directory"},
		{"a link, then a file through it", nil, []packed{packedAs(tar.TypeSymlink, "l", ".."), plainFile("l/above", "x")}, nil, nil, "l/above is below l, which is not a directory in the archive"},
		{"the same with another spelling", nil, []packed{packedAs(tar.TypeSymlink, "./l", "../beside"), plainFile("l//file", "x")}, nil, nil, "l/file is below l, which is not a directory"},
		{"a directory that turns into a link", nil, []packed{packedAs(tar.TypeDir, "l", ""), packedAs(tar.TypeSymlink, "l", ".."), plainFile("l/above", "x")}, nil, nil, "l is a directory and something else at once"},
		{"a link that was there", linkTo("../beside", "dest/l"), []packed{plainFile("l/file", "x")}, nil, nil, "dest/l is a link to ../beside, where the archive has a directory; a link must lead to a directory in dest"},
		{"an absolute link that was there", linkTo("/tmp", "dest/l"), []packed{packedAs(tar.TypeDir, "l/", "")}, nil, nil, "a link must lead to a directory in dest"},
		{"a hard link out", nil, []packed{packedAs(tar.TypeLink, "h", "../above")}, nil, nil, "leads out of the directory"},
		{"a hard link to what was there", exectest.MakeFile("dest/secret", "x", 0o600), []packed{packedAs(tar.TypeLink, "h", "secret")}, nil, nil, "h is a hard link to secret, which is not a file that is unpacked before it"},
		{"a hard link to a link", nil, []packed{packedAs(tar.TypeSymlink, "l", "../above"), packedAs(tar.TypeLink, "h", "l"), plainFile("h", "x")}, nil, nil, "h is a hard link to l, which is not a file"},
		{"a hard link to itself", nil, []packed{packedAs(tar.TypeLink, "h", "h")}, nil, nil, "which is not a file that is unpacked before it"},
		{"a device", nil, []packed{packedAs(tar.TypeBlock, "disk", "")}, nil, nil, "disk is a device, and only files, directories and links are unpacked; exclude it with `exclude`"},
		{"a pipe", nil, []packed{packedAs(tar.TypeFifo, "p", "")}, nil, nil, "p is a pipe"},
		{"a file over a directory", exectest.MakeDir("dest/a", 0o755), []packed{plainFile("a", "x")}, nil, nil, "dest/a is a directory, where the archive has a file"},
		{"a directory over a file", exectest.MakeFile("dest/a", "x", 0o644), []packed{plainFile("a/b", "x")}, nil, nil, "dest/a is a file, where the archive has a directory"},
		{"too many", nil, []packed{plainFile("a", ""), plainFile("b", ""), plainFile("c", "")}, nil, exectest.Args{"max_entries": 2}, "has more than 2 entries; if that is right, raise `max_entries`"},
		{"too large", nil, []packed{plainFile("a", strings.Repeat("x", 2000))}, nil, exectest.Args{"max_bytes": "1k"}, "unpacks to more than 1024 bytes; if that is right, raise `max_bytes`"},
		{"a bomb", nil, nil, bomb, nil, "unpacks to more than 500 times its size; if that is right, raise `max_ratio`"},
		{"a bomb that says less", nil, nil, func(tb testing.TB) []byte {
			tb.Helper() // the headers alone are endless
			data := bytes.Repeat(tarOf(tb, plainFile("a", ""))[:512], 300000)
			return packing["tar.zst"](tb, data)
		}, exectest.Args{"max_entries": 100000}, "has more than 100000 entries"},
		{"a zip bomb", nil, nil, func(tb testing.TB) []byte {
			tb.Helper()
			return zipOf(tb, plainFile("zeros", strings.Repeat("\x00", 128<<20)))
		}, nil, "unpacks to more than 500 times its size"},
		{"not included", nil, []packed{plainFile("a", "")}, nil, exectest.Args{"include": []any{"a", "b/c"}}, "is called b/c"},
		{"no archive", nil, nil, func(testing.TB) []byte { return []byte(strings.Repeat("text\n", 500)) }, nil, "src is neither a tar nor a zip archive"},
		{"an empty file", nil, nil, func(testing.TB) []byte { return nil }, nil, "is neither a tar nor a zip archive"},
		{"compressed, but no archive", nil, nil, func(tb testing.TB) []byte {
			tb.Helper()
			return packing["tar.gz"](tb, []byte(strings.Repeat("text\n", 500)))
		}, nil, "src is compressed, but no tar archive"},
		{"cut off", nil, nil, func(tb testing.TB) []byte {
			tb.Helper()
			data := packing["tar.gz"](tb, tarOf(tb, plainFile("a", strings.Repeat("text\n", 500))))
			return data[:len(data)-20]
		}, nil, "src is damaged"},
		{"no src", nil, nil, nil, exectest.Args{"src": "/nowhere/x"}, "src /nowhere/x does not exist"},
		{"no dest", nil, nil, nil, exectest.Args{"dest": "/nowhere/x"}, "directory /nowhere/x does not exist"},
		{"dest is a file", exectest.MakeFile("f", "x", 0o644), nil, nil, exectest.Args{"dest": "DIR/f"}, "DIR/f is a file, and no directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assault.Tried(t, "hostile archives", 1)
			if strings.Contains(tt.name, "bomb") {
				assault.Long(t)
			}
			dir, dest := sentinel(t)
			if tt.make != nil {
				tt.make(t, dir)
			}
			data := tarOf(t, tt.members...)
			if tt.data != nil {
				data = tt.data(t)
			}
			exectest.WriteFile(t, filepath.Join(dir, "src"), string(data), 0o644)
			before := snapshot(t, dir)
			in := exectest.Args{"src": "DIR/src", "dest": dest}
			maps.Copy(in, tt.in)
			r := exectest.RunJob(t, exectest.NewJob(t, "unarchive", paths(dir, in)))
			exectest.WantOutcome(t, r, events.Failed, strings.ReplaceAll(tt.want, "DIR", dir))
			if after := snapshot(t, dir); after != before {
				t.Errorf("something was written:\n%s\n%s", before, after)
			}
		})
	}
}

// TestUnarchiveTakesWhatIsExcluded leaves out what would be refused.
func TestUnarchiveTakesWhatIsExcluded(t *testing.T) {
	dir, dest := sentinel(t)
	data := tarOf(t, plainFile("a", "x"), packedAs(tar.TypeChar, "dev/null", ""), plainFile("../above", "x"))
	exectest.WriteFile(t, filepath.Join(dir, "src"), string(data), 0o644)
	settle(t, dir, "unarchive", exectest.Args{"src": filepath.Join(dir, "src"), "dest": dest, "exclude": []any{"dev", "../*"}}, nil)
	if got := exectest.ReadFile(t, filepath.Join(dir, "above")); got != "untouched" {
		t.Error(got)
	}
}

// TestUnarchiveRacingLinks swaps a directory for a link out while the archive is unpacked, again and again.
func TestUnarchiveRacingLinks(t *testing.T) {
	dir, dest := sentinel(t)
	var members []packed
	for i := range 400 {
		members = append(members, plainFile(fmt.Sprintf("d/%d/f", i%20), fmt.Sprint(i)))
	}
	exectest.WriteFile(t, filepath.Join(dir, "src"), string(tarOf(t, members...)), 0o644)
	before := around(t, dir)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		d := filepath.Join(dest, "d")
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(d, d+".away") == nil {
				os.Symlink("../beside", d)
				os.Remove(d)
				os.Rename(d+".away", d)
			}
		}
	}()
	rounds := assault.Rounds(20, 200)
	assault.Tried(t, "hostile archives", rounds)
	for range rounds {
		exec.Local{}.Run(t.Context(), exectest.NewJob(t, "unarchive", exectest.Args{"src": filepath.Join(dir, "src"), "dest": dest})) // it may fail, but not get out
		os.RemoveAll(filepath.Join(dest, "d"))
	}
	close(stop)
	<-stopped
	if after := around(t, dir); after != before {
		t.Errorf("it got out:\n%s\n%s", before, after)
	}
}

// FuzzUnarchive unpacks anything: nothing may be written outside of dest, and what was unpacked is found the same.
func FuzzUnarchive(f *testing.F) {
	f.Add(tarOf(f, plainFile("a/b", "x"), packedAs(tar.TypeSymlink, "l", "../.."), packedAs(tar.TypeLink, "h", "a/b")), 0)
	f.Add(tarOf(f, packedAs(tar.TypeSymlink, "l", "/tmp"), plainFile("l/x", "x")), 0)
	f.Add(tarOf(f, plainFile("../x", "x"), plainFile("/x", "x")), 1)
	f.Add(zipOf(f, plainFile("a/b", "x"), packedAs(tar.TypeSymlink, "l", "..")), 0)
	for _, pack := range packing {
		f.Add(pack(f, tarOf(f, plainFile("a", "text"))), 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, strip int) {
		dir := t.TempDir()
		dest := filepath.Join(dir, "dest")
		os.WriteFile(filepath.Join(dir, "src"), data, 0o600)
		os.Mkdir(dest, 0o755)
		in := exectest.Args{"src": filepath.Join(dir, "src"), "dest": dest, "strip_components": max(strip, 0) % 4, "max_bytes": "1m", "max_entries": 100}
		r := exectest.RunJob(t, exectest.NewJob(t, "unarchive", in))
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 2 || entries[0].Name() != "dest" || entries[1].Name() != "src" {
			t.Fatalf("it got out: %v, %v", entries, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "src")); err != nil || !bytes.Equal(got, data) {
			t.Fatal("the archive itself was changed")
		}
		if r.Outcome == events.Changed {
			if again := exectest.RunJob(t, exectest.NewJob(t, "unarchive", in)); again.Outcome != events.OK {
				t.Errorf("%v, the second time %v: %s\n%s", r.Diff, again.Diff, again.Error, snapshot(t, dest))
			}
		}
	})
}

// elsewhere are files that are not where the step is carried out.
type elsewhere struct {
	fsys.OwnFiles
	dir string
}

func (e elsewhere) Open(path string) (io.ReadCloser, error) {
	f, err := e.OwnFiles.Open(e.dir + path)
	return struct{ io.ReadCloser }{f}, err
}

func (e elsewhere) Stat(path string) (fs.FileInfo, error) { return e.OwnFiles.Stat(e.dir + path) }

func TestSourcesFromElsewhere(t *testing.T) {
	from := elsewhere{dir: t.TempDir()}
	exectest.WriteFile(t, from.dir+"/files/a", string(tarOf(t, plainFile("f", numbered(12)))), 0o600)
	exectest.WriteFile(t, from.dir+"/files/p", sevenPatch, 0o600)
	s := httptest.NewServer(http.HandlerFunc(echo))
	defer s.Close()
	dir := t.TempDir()
	for _, step := range []struct {
		action string
		in     exectest.Args
		want   events.Outcome
	}{
		{"unarchive", exectest.Args{"src": "/files/a", "dest": dir}, events.Changed},
		{"patch", exectest.Args{"src": "/files/p", "dest": dir + "/f"}, events.Changed},
		{"uri", exectest.Args{"url": s.URL, "method": "PUT", "src": "/files/p"}, events.OK},
	} {
		job := exectest.NewJob(t, step.action, step.in)
		job.From = from
		if exec.Source(job) != step.in["src"] {
			t.Errorf("%s copies from %q", step.action, exec.Source(job))
		}
		r := exectest.RunJob(t, job)
		exectest.WantOutcome(t, r, step.want, "")
		if sent, ok := r.Fields["json"].(exectest.Args); ok && sent["body"] != sevenPatch {
			t.Errorf("sent %v", sent)
		}
		step.in["remote_src"] = true
		job = exectest.NewJob(t, step.action, step.in)
		job.From = from
		if exec.Source(job) != "" {
			t.Errorf("with remote_src, %s copies from %q", step.action, exec.Source(job))
		}
		exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "src /files/")
	}
	if got := exectest.ReadFile(t, dir+"/f"); got != numbered(12, "seven=SEVEN") {
		t.Error(got)
	}
}
