package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"moon/exec/process"
	"moon/internal/diag"
	"moon/plan/playbook"
)

// galaxy is a server of collections and roles.
type galaxy struct {
	*httptest.Server
	mu       sync.Mutex
	token    string
	archives map[string][]byte            // by NAME-VERSION
	needs    map[string]map[string]string // by NAME-VERSION
	roles    map[string][]string          // versions
	asked    []string
}

func newGalaxy(t *testing.T) *galaxy {
	t.Helper()
	g := &galaxy{archives: map[string][]byte{}, needs: map[string]map[string]string{}, roles: map[string][]string{}}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

// collection has the server offer a version of a collection.
func (g *galaxy) collection(t *testing.T, name, version string, needs map[string]string) {
	t.Helper()
	key := name + "-" + version
	g.archives[key], g.needs[key] = pack(t, builtCollection(t, name, version, needs)), needs
}

func (g *galaxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.URL.Path)
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	if g.token != "" && r.Header.Get("Authorization") != "Token "+g.token && !strings.HasPrefix(r.URL.Path, "/sso") {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api/":
		answer(map[string]any{"available_versions": map[string]string{"v3": "v3/", "v1": "v1/"}})
	case strings.HasPrefix(r.URL.Path, "/api/v3/collections/") && len(path) == 6:
		name := path[3] + "." + path[4]
		var all []string
		for key := range g.archives {
			if version, ok := strings.CutPrefix(key, name+"-"); ok {
				all = append(all, version)
			}
		}
		slices.Sort(all)
		if len(all) == 0 {
			http.NotFound(w, r)
			return
		}
		// One to a page.
		at := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("offset"), &at)
		page := map[string]any{"data": []any{map[string]string{"version": all[at]}}, "links": map[string]any{"next": nil}}
		if at+1 < len(all) {
			page["links"] = map[string]any{"next": fmt.Sprintf("%s?offset=%d", r.URL.Path, at+1)}
		}
		answer(page)
	case strings.HasPrefix(r.URL.Path, "/api/v3/collections/") && len(path) == 7:
		key := path[3] + "." + path[4] + "-" + path[6]
		sum := sha256.Sum256(g.archives[key])
		answer(map[string]any{
			"download_url": "/download/" + key, "artifact": map[string]any{"sha256": hex.EncodeToString(sum[:])},
			"metadata": map[string]any{"dependencies": g.needs[key]},
		})
	case r.URL.Path == "/api/v1/roles/":
		name := r.URL.Query().Get("owner__username") + "." + r.URL.Query().Get("name")
		if g.roles[name] == nil {
			answer(map[string]any{"results": []any{}})
			return
		}
		answer(map[string]any{"results": []any{map[string]any{"id": slices.Index(g.named(), name), "github_user": "x", "github_repo": "y"}}})
	case strings.HasSuffix(r.URL.Path, "/versions/") && path[1] == "v1":
		var all []any
		at := 0
		_, _ = fmt.Sscan(path[3], &at)
		name := g.named()[at]
		for _, v := range g.roles[name] {
			all = append(all, map[string]string{"name": v, "download_url": g.URL + "/download/" + name + "-" + v})
		}
		answer(map[string]any{"results": all})
	case path[0] == "download":
		data, ok := g.archives[path[1]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	default:
		http.NotFound(w, r)
	}
}

// named are the names of the roles: the place of each is its number.
func (g *galaxy) named() []string { return slices.Sorted(maps.Keys(g.roles)) }

// builtCollection are the files of a collection as it is packed.
func builtCollection(t *testing.T, name, version string, needs map[string]string) map[string]string {
	t.Helper()
	dir, to := t.TempDir(), t.TempDir()
	namespace, short, _ := strings.Cut(name, ".")
	text := fmt.Sprintf("namespace: %s\nname: %s\nversion: %s\nauthors: [ann]\nreadme: README.md\nbuild_ignore: ['*.log']\ndependencies:\n", namespace, short, version)
	if len(needs) == 0 {
		text += "  {}\n"
	}
	for _, need := range slices.Sorted(maps.Keys(needs)) {
		text += fmt.Sprintf("  %s: %q\n", need, needs[need])
	}
	writeFiles(t, dir, map[string]string{
		"galaxy.yml": text, "README.md": name + " " + version, "roles/web/tasks/main.yml": "- debug:\n", "run.log": "not packed", "plugins/modules/x.py!": "#!/usr/bin/python\n",
	})
	if err := buildCollection(dir, to); err != nil {
		t.Fatal(err)
	}
	return readFiles(t, to)
}

// writeFiles writes files. A name that ends in ! is a program.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name, program := strings.CutSuffix(name, "!")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if program {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		if info, err := d.Info(); err == nil && info.Mode()&0o100 != 0 {
			name += "!"
		}
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		short, program := strings.CutSuffix(name, "!")
		h := &tar.Header{Name: short, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}
		if program {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// project is a directory with requirements that are installed into it.
type project struct {
	dir string
	Installer
}

func newProject(t *testing.T, requirements string, servers ...*galaxy) *project {
	t.Helper()
	p := &project{dir: t.TempDir()}
	p.require(t, requirements)
	for _, g := range servers {
		p.Servers = append(p.Servers, &Server{URL: g.URL})
	}
	return p
}

func (p *project) require(t *testing.T, requirements string) {
	t.Helper()
	writeFiles(t, p.dir, map[string]string{"requirements.yml": requirements})
}

// install installs, and returns a line for each release, or what went wrong.
func (p *project) install(t *testing.T, how func(*Installer)) string {
	t.Helper()
	path := filepath.Join(p.dir, "requirements.yml")
	var ds diag.List
	wanted := Read(path, func(path string) (*playbook.File, error) {
		text, err := os.ReadFile(path)
		return &playbook.File{Name: filepath.Base(path), Path: path, Text: text}, err
	}, &ds)
	if len(ds) > 0 {
		return fmt.Sprintf("%s:%d: %s", ds[0].Pos.File, ds[0].Pos.Line, ds[0].Message)
	}
	lock, err := ReadLock(LockOf(path))
	if err != nil {
		return err.Error()
	}
	i := Installer{Collections: filepath.Join(p.dir, "collections"), Roles: filepath.Join(p.dir, "roles"), Ask: &process.Asker{}, Lock: lock}
	for _, s := range p.Servers { // as a new process knows them
		i.Servers = append(i.Servers, &Server{URL: s.URL, Token: s.Token})
	}
	if how != nil {
		how(&i)
	}
	done, warnings, err := i.Install(context.Background(), wanted)
	var lines []string
	for _, d := range done {
		lines = append(lines, fmt.Sprintf("%s %s", d.Release, d.State))
	}
	lines = append(lines, warnings...)
	if err != nil {
		lines = append(lines, err.Error())
	}
	if i.temp != "" {
		if _, err := os.Stat(i.temp); err == nil {
			t.Errorf("%s is left", i.temp)
		}
	}
	return strings.NewReplacer(p.dir, "DIR").Replace(strings.Join(lines, "\n"))
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

// TestServer installs from a server, with what is needed, and again from the lock file.
func TestServer(t *testing.T) {
	g := newGalaxy(t)
	g.collection(t, "a.web", "1.0.0", map[string]string{"b.base": ">=1.0.0,<2.0.0"})
	g.collection(t, "a.web", "1.2.0", map[string]string{"b.base": ">=2.0.0"})
	g.collection(t, "a.web", "2.0.0-beta.1", nil)
	g.collection(t, "b.base", "1.4.0", nil)
	g.collection(t, "b.base", "1.10.0", nil)
	g.collection(t, "b.base", "2.1.0", nil)
	p := newProject(t, "collections:\n  - a.web\n", g)
	want(t, "the newest", p.install(t, nil), "collection a.web 1.2.0 installed\ncollection b.base 2.1.0 installed")
	files := readFiles(t, filepath.Join(p.dir, "collections/ansible_collections/a/web"))
	if files["README.md"] != "a.web 1.2.0" || files["plugins/modules/x.py!"] == "" || files["run.log"] != "" || files["FILES.json"] == "" {
		t.Errorf("files: %q", slices.Sorted(maps.Keys(files)))
	}

	g.asked = nil
	want(t, "again", p.install(t, nil), "collection a.web 1.2.0 unchanged\ncollection b.base 2.1.0 unchanged")
	if len(g.asked) > 0 && slices.ContainsFunc(g.asked, func(path string) bool { return strings.HasPrefix(path, "/download") }) {
		t.Errorf("again, it downloads: %q", g.asked)
	}
	g.collection(t, "b.base", "2.2.0", nil)
	want(t, "again, with a newer one", p.install(t, nil), "collection a.web 1.2.0 unchanged\ncollection b.base 2.1.0 unchanged")
	want(t, "dry upgrade", p.install(t, func(i *Installer) { i.Upgrade, i.Dry = true, true }), "collection a.web 1.2.0 unchanged\ncollection b.base 2.2.0 replaced")
	want(t, "upgrade", p.install(t, func(i *Installer) { i.Upgrade = true }), "collection a.web 1.2.0 unchanged\ncollection b.base 2.2.0 replaced")

	// What is wanted by both decides: the older a.web is the one that goes with it.
	p.require(t, "collections:\n  - a.web\n  - {name: b.base, version: '<2'}\n")
	want(t, "going back", p.install(t, func(i *Installer) { i.Upgrade = true }), "collection a.web 1.0.0 replaced\ncollection b.base 1.10.0 replaced")
	p.require(t, "collections:\n  - {name: a.web, version: '>=1.1'}\n  - {name: b.base, version: '<2'}\n")
	want(t, "no way", p.install(t, nil),
		"no version of b.base is right for all: collection a.web 1.2.0 wants >=2.0.0, and requirements.yml:3 wants <2")
	p.require(t, "collections:\n  - {name: a.web, version: '>=3'}\n")
	want(t, "none", p.install(t, nil),
		"requirements.yml:2: collection a.web: no server has it: "+g.URL+" has 2.0.0-beta.1, 1.2.0, 1.0.0 and no >=3")
	p.require(t, "collections:\n  - {name: a.web, version: 2.0.0-beta.1}\n")
	want(t, "not finished, named", p.install(t, nil), "collection a.web 2.0.0-beta.1 replaced")
	p.require(t, "collections:\n  - c.none\n")
	want(t, "unknown", p.install(t, nil), "requirements.yml:2: collection c.none: no server has it: "+g.URL)
	p.require(t, "collections:\n  - {name: a.web, version: latest}\n")
	want(t, "no range", p.install(t, nil), "requirements.yml:2: collection a.web: `latest` is not a version, and no range such as `>=1.2.0,<2`")
}

// TestServers asks the servers in their order, with their tokens.
func TestServers(t *testing.T) {
	first, second := newGalaxy(t), newGalaxy(t)
	second.token = "s3cret"
	first.collection(t, "a.one", "1.0.0", map[string]string{"a.two": "*"})
	second.collection(t, "a.two", "1.0.0", nil)
	p := newProject(t, "collections: [a.one]\n", first, second)
	want(t, "no token", p.install(t, nil),
		"collection a.one 1.0.0: collection a.two: "+second.URL+"/api/ answers 401 Unauthorized: the token or the password of this server is missing or wrong")
	p.Servers[1].Token = "s3cret"
	want(t, "token", p.install(t, nil), "collection a.one 1.0.0 installed\ncollection a.two 1.0.0 installed")
	p.require(t, "collections: [{name: a.two, source: '"+first.URL+"'}]\n")
	want(t, "a server that is named", p.install(t, nil), "requirements.yml:1: collection a.two: no server has it: "+first.URL)
}

// TestLock holds what is installed against the lock file.
func TestLock(t *testing.T) {
	g := newGalaxy(t)
	g.collection(t, "a.web", "1.0.0", nil)
	p := newProject(t, "collections: [a.web]\n", g)
	want(t, "locked without a lock", p.install(t, func(i *Installer) { i.Locked = true }),
		"requirements.yml:1: collection a.web: DIR/requirements.lock does not have it; run moon install without --locked, and keep the file that it writes")
	want(t, "first", p.install(t, nil), "collection a.web 1.0.0 installed")
	lock, err := os.ReadFile(filepath.Join(p.dir, "requirements.lock"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "locked", p.install(t, func(i *Installer) { i.Locked = true }), "collection a.web 1.0.0 unchanged")

	// The server has other files by the same version, and says so: only the lock file knows.
	files := builtCollection(t, "a.web", "1.0.0", nil)
	dir, to := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{"galaxy.yml": "namespace: a\nname: web\nversion: 1.0.0\n", "README.md": "bought by somebody"})
	if err := buildCollection(dir, to); err != nil {
		t.Fatal(err)
	}
	g.archives["a.web-1.0.0"] = pack(t, readFiles(t, to))
	if err := os.RemoveAll(filepath.Join(p.dir, "collections")); err != nil {
		t.Fatal(err)
	}
	if got := p.install(t, nil); !strings.Contains(got, "is not what it was") {
		t.Errorf("another archive of the version: %s", got)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "collections/ansible_collections")); err == nil {
		t.Error("it was installed")
	}
	g.archives["a.web-1.0.0"] = pack(t, files)
	want(t, "as it was", p.install(t, nil), "collection a.web 1.0.0 installed")
	if now, _ := os.ReadFile(filepath.Join(p.dir, "requirements.lock")); string(now) != string(lock) {
		t.Errorf("the lock file is now\n%s", now)
	}

	// What somebody has changed stays.
	at := filepath.Join(p.dir, "collections/ansible_collections/a/web")
	writeFiles(t, at, map[string]string{"README.md": "mine"})
	want(t, "changed", p.install(t, nil), "DIR/collections/ansible_collections/a/web is not replaced with collection a.web 1.0.0: it was changed since: "+
		"README.md differs from what was packed. Move it away, or run moon install --force to lose it")
	if text := readFiles(t, at)["README.md"]; text != "mine" {
		t.Errorf("README.md is %q", text)
	}
	want(t, "force", p.install(t, func(i *Installer) { i.Force = true }), "collection a.web 1.0.0 replaced")
	writeFiles(t, p.dir, map[string]string{"requirements.lock": "installed: {a: b}\n"})
	if got := p.install(t, nil); !strings.Contains(got, "requirements.lock is not a lock file") {
		t.Error(got)
	}
}

// TestRoles installs roles from a server, archives and directories.
func TestRoles(t *testing.T) {
	g := newGalaxy(t)
	role := func(name string, needs string) []byte {
		return pack(t, map[string]string{"repo-1/meta/main.yml": "dependencies: " + needs + "\n", "repo-1/tasks/main.yml": "- debug: {msg: " + name + "}\n"})
	}
	g.roles["ann.web"], g.archives["ann.web-1.9.0"], g.archives["ann.web-1.10.0"] = []string{"1.10.0", "1.9.0"}, role("old", "[]"), role("new", "[ann.base, {role: local}, {role: ann.log, vars: {x: 1}}]")
	g.roles["ann.base"], g.archives["ann.base-2.0"] = []string{"2.0"}, role("base", "[]")
	g.roles["ann.log"], g.archives["ann.log-1"] = []string{"1"}, role("log", "[]")
	g.archives["direct.tar.gz"] = role("direct", "[]")
	p := newProject(t, "- ann.web\n- src: "+g.URL+"/download/direct.tar.gz\n- {src: ./mine.tar.gz, name: mine}\n", g)
	writeFiles(t, p.dir, map[string]string{"mine.tar.gz": string(role("mine", "[]"))})
	want(t, "first", p.install(t, nil), "role direct installed\nrole mine installed\nrole ann.web 1.10.0 installed\nrole ann.base 2.0 installed\nrole ann.log 1 installed")
	want(t, "again", p.install(t, nil), "role direct unchanged\nrole mine unchanged\nrole ann.web 1.10.0 unchanged\nrole ann.base 2.0 unchanged\nrole ann.log 1 unchanged")
	if text := readFiles(t, filepath.Join(p.dir, "roles/ann.web"))["tasks/main.yml"]; text != "- debug: {msg: new}\n" {
		t.Errorf("tasks: %q", text)
	}
	p.require(t, "roles:\n  - {name: ann.web, version: 1.9.0}\n  - {name: ann.base}\n")
	want(t, "older", p.install(t, nil), "role ann.web 1.9.0 replaced\nrole ann.base 2.0 unchanged")
	writeFiles(t, filepath.Join(p.dir, "roles/ann.base"), map[string]string{"tasks/main.yml": "- mine:\n"})
	if got := p.install(t, nil); !strings.Contains(got, "roles/ann.base is not replaced with role ann.base 2.0: it was changed since") {
		t.Error(got)
	}
	p.require(t, "roles: [ann.none]\n")
	if got := p.install(t, nil); !strings.Contains(got, "requirements.yml:1: role ann.none: no server has it") {
		t.Error(got)
	}
}

// TestGit installs from repositories, and again what the lock file has when the branch has moved.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	repo := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s\n%s", args, err, out)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	writeFiles(t, repo, map[string]string{
		"coll/galaxy.yml": "namespace: a\nname: own\nversion: 1.0.0\n", "coll/README.md": "one", "meta/main.yml": "", "tasks/main.yml": "- debug: {msg: one}\n",
	})
	git("add", "-A")
	git("commit", "--quiet", "-m", "one")
	git("tag", "v1")
	p := newProject(t, "collections:\n  - {name: 'git+file://"+repo+"#/coll', version: main}\nroles:\n  - {src: 'git+file://"+repo+"', name: own, version: v1}\n")
	want(t, "first", p.install(t, nil), "collection a.own 1.0.0 installed\nrole own v1 installed")
	writeFiles(t, repo, map[string]string{"coll/README.md": "two", "coll/galaxy.yml": "namespace: a\nname: own\nversion: 1.1.0\n"})
	git("commit", "--quiet", "-a", "-m", "two")
	want(t, "moved", p.install(t, nil), "collection a.own 1.0.0 unchanged\nrole own v1 unchanged")
	if err := os.RemoveAll(filepath.Join(p.dir, "collections")); err != nil {
		t.Fatal(err)
	}
	want(t, "elsewhere", p.install(t, nil), "collection a.own 1.0.0 installed\nrole own v1 unchanged")
	want(t, "upgrade", p.install(t, func(i *Installer) { i.Upgrade = true }), "collection a.own 1.1.0 replaced\nrole own v1 unchanged")
	p.require(t, "roles:\n  - {src: 'git+file://"+repo+"', name: own, version: v9}\n")
	want(t, "no branch", p.install(t, nil), "role own v9 cannot be had from file://"+repo+": it has no branch, tag or commit v9")
	p.require(t, "roles:\n  - {src: 'ext::sh -c \"touch "+p.dir+"/ran\"', scm: git, name: own}\n")
	_ = p.install(t, nil)
	if _, err := os.Stat(filepath.Join(p.dir, "ran")); err == nil {
		t.Error("a requirement started a program")
	}
}

// TestHostile refuses archives that would write elsewhere, or are not as they were packed.
func TestHostile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "owned")
	raw := func(headers ...tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			h.Mode = 0o644
			text := "x"
			if h.Typeflag == tar.TypeReg {
				h.Size = 1
			}
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg {
				_, _ = w.Write([]byte(text))
			}
		}
		_ = w.Close()
		return b.Bytes()
	}
	files := builtCollection(t, "a.web", "1.0.0", nil)
	changed, more := maps.Clone(files), maps.Clone(files)
	changed["README.md"] = "changed"
	more["plugins/modules/more.py"] = "import os"
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"above":    {raw(tar.Header{Name: "../owned", Typeflag: tar.TypeReg}), `the archive has a file outside of it: "../owned"`},
		"absolute": {raw(tar.Header{Name: outside, Typeflag: tar.TypeReg}), "the archive has a file outside of it"},
		"link":     {raw(tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: filepath.Dir(outside)}, tar.Header{Name: "a/owned", Typeflag: tar.TypeReg}), "the link a leads out of it"},
		"device":   {raw(tar.Header{Name: "a", Typeflag: tar.TypeChar}), `"a" is neither a file nor a directory nor a link`},
		"hard":     {raw(tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), "path escapes from parent"},
		"no tar":   {[]byte("<html>"), "neither a tar nor a zip archive"},
		"empty":    {raw(), "the archive is empty"},
		"changed":  {pack(t, changed), "README.md differs from what was packed: the archive is damaged"},
		"more":     {pack(t, more), "plugins/modules/more.py was not packed with the others: the archive is damaged"},
		"other":    {pack(t, builtCollection(t, "b.web", "1.0.0", nil)), "collection b.web 1.0.0 installed"},
		"no role":  {pack(t, map[string]string{"README": "x"}), "MANIFEST.json"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, "collections: [./x.tar.gz]\n")
			writeFiles(t, p.dir, map[string]string{"x.tar.gz": string(c.archive)})
			if got := p.install(t, nil); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it was written outside")
	}
}

// TestDamaged refuses an archive that is not the one that the server speaks of.
func TestDamaged(t *testing.T) {
	g := newGalaxy(t)
	g.collection(t, "a.web", "1.0.0", nil)
	archive := g.archives["a.web-1.0.0"]
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/download") {
			_, _ = w.Write(archive[:len(archive)-20])
			return
		}
		g.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	p := newProject(t, "collections: [a.web]\n")
	p.Servers = []*Server{{URL: proxy.URL}}
	if got := p.install(t, nil); !strings.Contains(got, "it is damaged") {
		t.Error(got)
	}
}

// TestRequirements says what is wrong with requirements, and where.
func TestRequirements(t *testing.T) {
	for text, wrong := range map[string]string{
		"collection: [a.b]\n":                                 "requirements.yml:1: unknown key `collection`: requirements are `collections` and `roles`",
		"collections: a.b\n":                                  "requirements.yml:1: `collections` must be a list, found text",
		"collections:\n  - nodots\n":                          "requirements.yml:2: `nodots` is not the name of a collection, which is NAMESPACE.NAME, and no file, directory or URL",
		"collections:\n  - {name: a.b, ver: 1}\n":             "requirements.yml:2: unknown key `ver` of a requirement",
		"collections:\n  - {version: 1}\n":                    "requirements.yml:2: a collection needs a `name`",
		"collections:\n  - {name: a.b, signatures: [x]}\n":    "requirements.yml:2: `signatures` are not checked",
		"collections:\n  - {name: a.b, type: svn}\n":          "requirements.yml:2: `type` is galaxy, git, url, file or dir, and not `svn`",
		"collections:\n  - [a.b]\n":                           "requirements.yml:2: a requirement is text or a map, found a list",
		"roles:\n  - {src: hg+https://x/y, name: z}\n":        "requirements.yml:2: roles are had from repositories of git, and of no other kind",
		"roles:\n  - {src: https://x/y.tar.gz, name: ../z}\n": "requirements.yml:2: `../z` cannot be the name of a role: it becomes that of a directory",
		"roles:\n  - plain\n":                                 "requirements.yml:2: `plain` is not the name of a role on a server, which is OWNER.NAME, and no file, directory or URL",
		"roles:\n  - include: requirements.yml\n":             "requirements.yml:2: this file includes itself",
		"text\n": "requirements.yml:1: requirements are a map with `collections` and `roles`, or a list of roles; this is text",
	} {
		if got := newProject(t, text).install(t, nil); got != wrong {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, wrong)
		}
	}
}

// TestRead reads what roles and collections are had from.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"more.yml": "- src: ann.more\n", "here/galaxy.yml": "", "requirements.yml": `
collections:
  - a.b
  - {name: c.d, version: ">=1", source: https://hub.example.com/api}
  - git+https://example.com/x/y.git#/sub/,v1
  - git@example.com:x/y.git
  - https://example.com/a-b-1.0.0.tar.gz
  - ./here
  - {name: e.f, source: "https://example.com/e/f.git", type: git, version: main}
roles:
  - ann.web,1.0,web
  - {src: https://github.com/ann/ansible-role-x, version: v2}
  - {src: "git+ssh://git@example.com/r.git"}
  - {src: https://example.com/files/role-a.tar.gz}
  - include: more.yml
`})
	var ds diag.List
	var lines []string
	for _, q := range Read(filepath.Join(dir, "requirements.yml"), func(path string) (*playbook.File, error) {
		text, err := os.ReadFile(path)
		return &playbook.File{Name: filepath.Base(path), Path: path, Text: text}, err
	}, &ds) {
		lines = append(lines, fmt.Sprintf("%s: %s %q %s %q %q %q %q", q.For, q.Kind, q.Name, q.Origin, strings.ReplaceAll(q.Source, dir, "DIR"), q.Folder, q.Server, q.Version))
	}
	if len(ds) > 0 {
		t.Error(ds)
	}
	want(t, "requirements", strings.Join(lines, "\n"), `requirements.yml:3: collection "a.b" galaxy "" "" "" ""
requirements.yml:4: collection "c.d" galaxy "" "" "https://hub.example.com/api" ">=1"
requirements.yml:5: collection "" git "https://example.com/x/y.git" "sub" "" "v1"
requirements.yml:6: collection "" git "git@example.com:x/y.git" "" "" ""
requirements.yml:7: collection "" url "https://example.com/a-b-1.0.0.tar.gz" "" "" ""
requirements.yml:8: collection "" dir "DIR/here" "" "" ""
requirements.yml:9: collection "e.f" git "https://example.com/e/f.git" "" "" "main"
requirements.yml:11: role "web" galaxy "ann.web" "" "" "1.0"
requirements.yml:12: role "ansible-role-x" git "https://github.com/ann/ansible-role-x" "" "" "v2"
requirements.yml:13: role "r" git "ssh://git@example.com/r.git" "" "" ""
requirements.yml:14: role "role-a" url "https://example.com/files/role-a.tar.gz" "" "" ""
more.yml:1: role "ann.more" galaxy "ann.more" "" "" ""`)
}

// TestAdmits compares versions as Ansible does.
func TestAdmits(t *testing.T) {
	for _, c := range []struct {
		wanted, version string
		admits          bool
	}{
		{"", "1.0.0", true},
		{"*", "1.0.0", true},
		{"1.0.0", "1.0.0", true},
		{"==1.0.0", "1.0.0", true},
		{"=1.0.0", "1.0.1", false},
		{"!=1.0.0", "1.0.1", true},
		{">=1.0,<2", "1.10.3", true},
		{">=1.0,<2", "2.0.0", false},
		{">=1.0.0, <2.0.0", "1.0.0", true},
		{">1.9.0", "1.10.0", true},
		{"<1.0.0", "1.0.0-beta", true},
		{"main", "main", true},
		{">=1", "main", false},
	} {
		if got := admits(c.wanted, c.version); got != c.admits {
			t.Errorf("admits(%q, %q) is %t", c.wanted, c.version, got)
		}
	}
}
