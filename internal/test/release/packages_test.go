package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// version is what programs of these tests are built as.
const version = "1.2.3"

// stage builds what a release has for this system, as .goreleaser.yaml has it, into a directory that has the files of the repository that
// packages take, too.
func stage(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must(t, "", "make", "release-files", "RELEASE_DIR="+filepath.Join(dir, "release"))
	here := runtime.GOOS + "-" + runtime.GOARCH
	for out, pkg := range map[string]string{"moon": ".", "dist/agents/" + here + "/moon": "./cmd/moon-agent"} {
		must(t, "", "go", "build", "-ldflags=-s -w -X moon/internal/build.Version="+version, "-o", filepath.Join(dir, out), pkg)
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// must runs a program that has to succeed, and returns what it prints.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// runInstalled has moon, below a root in which nothing else is, say its version, find its agent and plan a playbook.
func runInstalled(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{"work", "proc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "work", "moon.yml"), []byte("- copy: {content: hello, dest: /work/hello}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	moon := func(args ...string) string {
		t.Helper()
		// moon asks /proc where it is itself. The mount ends with the process.
		const start = `mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/moon "$@"`
		cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "sh", "-c", start, root}, args...)...)
		cmd.Env = []string{"HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("moon %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	var is struct {
		Version, Platform string
		Agents            []struct{ System, Path, Error string }
	}
	if err := json.Unmarshal([]byte(moon("--version", "--format", "json")), &is); err != nil {
		t.Fatal(err)
	}
	here := runtime.GOOS + "-" + runtime.GOARCH
	if is.Version != version || len(is.Agents) != 1 || is.Agents[0].System != here || is.Agents[0].Error != "" ||
		is.Agents[0].Path != "/usr/lib/moon/agents/"+here+"/moon" {
		t.Errorf("%+v", is)
	}
	if got := moon("plan", "/work/moon.yml"); !strings.Contains(got, "hello") {
		t.Error(got)
	}
	moon("run", "/work/moon.yml")
	if got, err := os.ReadFile(filepath.Join(root, "work", "hello")); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("chroot needs root, and packages are of Linux")
	}
}

// TestPackages builds packages of the configuration, as goreleaser does, installs them in empty roots and runs moon from there.
func TestPackages(t *testing.T) {
	if os.Getenv("NFPM") == "" {
		t.Skip("make packages-test, which says how nfpm is called")
	}
	needsRoot(t)
	dir := stage(t)
	p := readConfiguration(t).Nfpms[0]
	contents := []map[string]any{{"src": "moon", "dst": p.Bindir + "/moon", "file_info": map[string]any{"mode": 0o755}}}
	for _, f := range p.Contents {
		contents = append(contents, map[string]any{"src": f.Src, "dst": f.Dst, "type": f.Type, "packager": f.Packager})
	}
	text, err := yaml.Marshal(map[string]any{
		"name": p.PackageName, "arch": runtime.GOARCH, "platform": "linux", "version": version, "maintainer": "moon <moon@example.com>",
		"description": p.Description, "license": p.License, "section": p.Section, "contents": contents, "recommends": p.Recommends,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "nfpm.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	nfpm := strings.Fields(os.Getenv("NFPM"))
	for _, format := range p.Formats {
		t.Run(format, func(t *testing.T) {
			file := filepath.Join(dir, "moon."+format)
			must(t, dir, nfpm[0], append(slices.Clone(nfpm[1:]), "package", "--packager", format, "--target", file)...)
			root := t.TempDir()
			switch format {
			case "deb":
				for _, path := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
					if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				for _, path := range []string{"status", "available"} {
					if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", path), nil, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				must(t, "", "dpkg", "--root="+root, "--force-not-root", "--install", file)
				if got := must(t, "", "dpkg-query", "--admindir="+root+"/var/lib/dpkg", "-W"); !strings.Contains(got, "moon\t"+version) {
					t.Error(got)
				}
			case "rpm":
				needsProgram(t, "rpm")
				must(t, "", "rpm", "--root", root, "--initdb")
				must(t, "", "rpm", "--root", root, "--install", "--nodeps", "--ignoreos", file)
				if got := must(t, "", "rpm", "--root", root, "-q", "--scripts", "moon"); got != "" {
					t.Error(got)
				}
				must(t, "", "rpm", "--root", root, "--verify", "--nodeps", "moon")
			case "apk": // archives, one after the other; apk itself is where Alpine is
				must(t, "", "tar", "-xzf", file, "-C", root)
			}
			runInstalled(t, root)
			for _, path := range []string{
				"/usr/share/man/man1/moon-run.1.gz", "/usr/share/doc/moon/THIRD-PARTY-NOTICES", "/usr/share/bash-completion/completions/moon",
			} {
				if s, err := os.Stat(root + path); err != nil || s.Size() < 100 {
					t.Errorf("%s: %v", path, err)
				}
			}
			if format == "deb" {
				must(t, "", "dpkg", "--root="+root, "--force-not-root", "--purge", "moon")
				if _, err := os.Stat(root + "/usr/bin/moon"); err == nil {
					t.Error("moon is still there after it was removed")
				}
			}
		})
	}
}

func needsProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip("there is no " + name + " here")
	}
}

// TestImage follows the Dockerfile, in which nothing is run, and starts moon in what it makes: with no shell, C library, certificates or
// users around it.
func TestImage(t *testing.T) {
	if testing.Short() && os.Getenv("NFPM") == "" {
		t.Skip("two programs are linked for it")
	}
	needsRoot(t)
	dir, root := stage(t), t.TempDir()
	for _, line := range copied(t) {
		for _, src := range line.from {
			to := root + line.to
			if src = strings.ReplaceAll(src, "$TARGETPLATFORM/", ""); strings.HasSuffix(to, "/") {
				to = filepath.Join(to, filepath.Base(src))
			}
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			must(t, dir, "cp", "-r", src, to)
		}
	}
	runInstalled(t, root)
}
