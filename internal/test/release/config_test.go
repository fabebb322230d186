package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// file is what an archive or a package has, and where.
type file struct{ Src, Dst, Type, Packager string }

// configuration is what tests read of .goreleaser.yaml.
type configuration struct {
	Before struct{ Hooks []string }
	Builds []struct {
		ID, Main, Binary                   string
		Env, Targets, Flags, Ldflags, Goos []string
		ModTimestamp                       string `yaml:"mod_timestamp"`
		NoUniqueDistDir                    bool   `yaml:"no_unique_dist_dir"`
	}
	Archives []struct {
		IDs   []string
		Files []file
	}
	Nfpms []struct {
		PackageName string `yaml:"package_name"`
		Bindir      string
		Formats     []string
		Contents    []file
		Scripts     map[string]string
		Recommends  []string
		License     string
		Maintainer  string
		Description string
		Section     string
	}
	Casks []struct {
		Manpages    []string
		Completions map[string]string
	} `yaml:"homebrew_casks"`
	Dockers []struct {
		Dockerfile string
		ExtraFiles []string `yaml:"extra_files"`
	} `yaml:"dockers_v2"`
	Aurs  []struct{ Package string }
	Sboms []struct{ Artifacts string }
	Signs []struct{ Cmd, Artifacts string }
}

func readConfiguration(t *testing.T) (c configuration) {
	t.Helper()
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Builds) != 2 || len(c.Archives) != 1 || len(c.Nfpms) != 1 || len(c.Casks) != 1 || len(c.Dockers) != 1 || len(c.Aurs) != 1 {
		t.Fatalf("%+v", c)
	}
	return c
}

// TestConfiguration holds what a release depends on: moon and its agent are built alike and for the same systems, without the C library,
// and what `make agents` builds is what a release has.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	c := readConfiguration(t)
	moon, agent := c.Builds[0], c.Builds[1]
	want := []string{"linux_amd64", "linux_arm64", "linux_arm_7", "linux_386", "darwin_amd64", "darwin_arm64", "freebsd_amd64", "freebsd_arm64"}
	for _, b := range c.Builds {
		if !slices.Equal(b.Targets, want) {
			t.Errorf("%s is built for %q", b.ID, b.Targets)
		}
		if !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || !slices.Contains(b.Flags, "-trimpath") || b.ModTimestamp == "" {
			t.Errorf("%s is built with %q %q %q", b.ID, b.Env, b.Flags, b.ModTimestamp)
		}
	}
	// Both answer with internal/build.Stamp, and moon refuses an agent that does not answer as it does itself.
	if !slices.Equal(moon.Ldflags, agent.Ldflags) || !strings.Contains(strings.Join(moon.Ldflags, " "), "moon/internal/build.Version=") {
		t.Errorf("moon is linked with %q, and its agent with %q", moon.Ldflags, agent.Ldflags)
	}
	if agent.Binary != "agents/{{ .Os }}-{{ .Arch }}/moon" || !agent.NoUniqueDistDir || agent.Main != "./cmd/moon-agent" {
		t.Errorf("%+v", agent)
	}
	if c.Before.Hooks[0] != "make release-files" || len(c.Sboms) == 0 || len(c.Signs) == 0 {
		t.Errorf("%+v", c)
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	systems := regexp.MustCompile(`(?m)^SYSTEMS \?= (.*)$`).FindStringSubmatch(string(makefile))
	var targets []string
	for _, target := range want {
		targets = append(targets, strings.ReplaceAll(strings.TrimSuffix(target, "_7"), "_", "-"))
	}
	if systems == nil || !slices.Equal(strings.Fields(systems[1]), targets) {
		t.Errorf("make agents builds %q, and a release %q", systems, targets)
	}
}

// TestContents looks at what archives, packages, the cask, the recipe and the image have: all of it is either in the repository or made for the
// release, and none of it runs a script.
func TestContents(t *testing.T) {
	t.Parallel()
	c := readConfiguration(t)
	made := []string{"dist/agents", "release/THIRD-PARTY-NOTICES", "release/man", "release/man/*.1.gz"}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		made = append(made, "release/completions/moon."+shell)
	}
	made = append(made, "release/completions")
	exists := func(what, src string) {
		if _, err := os.Stat(src); err != nil && !slices.Contains(made, src) {
			t.Errorf("%s has %s, which nothing makes", what, src)
		}
	}
	var archive []string
	for _, f := range c.Archives[0].Files {
		exists("an archive", f.Src)
		archive = append(archive, f.Src+">"+f.Dst)
	}
	for _, want := range []string{
		"LICENSE>", "release/THIRD-PARTY-NOTICES>", "release/completions>completions", "release/man>man", "dist/agents>agents",
	} {
		if !slices.Contains(archive, want) {
			t.Errorf("archives lack %s: %q", want, archive)
		}
	}
	p := c.Nfpms[0]
	if !slices.Equal(p.Formats, []string{"deb", "rpm", "apk"}) || len(p.Scripts) > 0 || p.Bindir != "/usr/bin" {
		t.Errorf("%+v", p)
	}
	for _, packager := range p.Formats {
		var has []string
		for _, f := range p.Contents {
			exists("a package", f.Src)
			if f.Packager == "" || f.Packager == packager {
				has = append(has, f.Dst)
			}
		}
		zsh := "/usr/share/zsh/site-functions/_moon"
		if packager == "deb" { // which keeps site-functions for whoever has the machine
			zsh = "/usr/share/zsh/vendor-completions/_moon"
		}
		for _, want := range []string{
			"/usr/lib/moon/agents", "/usr/share/man/man1/", "/usr/share/bash-completion/completions/moon", zsh,
			"/usr/share/fish/vendor_completions.d/moon.fish", "/usr/share/doc/moon/copyright", "/usr/share/doc/moon/THIRD-PARTY-NOTICES",
		} {
			if !slices.Contains(has, want) {
				t.Errorf("the %s lacks %s", packager, want)
			}
		}
	}
	for _, src := range c.Dockers[0].ExtraFiles {
		exists("the image", src)
	}
	for _, word := range []string{"agents", "man/*.1.gz", "completions/moon.bash", "completions/moon.zsh", "completions/moon.fish", "LICENSE", "THIRD-PARTY-NOTICES"} {
		if !strings.Contains(c.Aurs[0].Package, " "+word+" ") {
			t.Errorf("the recipe of Arch Linux does not install %s", word)
		}
	}
	for _, line := range copied(t) {
		for _, src := range line.from {
			if src != "$TARGETPLATFORM/moon" && !slices.Contains(c.Dockers[0].ExtraFiles, src) {
				t.Errorf("the Dockerfile copies %s, which it is not given", src)
			}
		}
	}
}

// copied are the lines of the Dockerfile that copy something.
func copied(t *testing.T) (lines []struct {
	from []string
	to   string
},
) {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "COPY" {
			lines = append(lines, struct {
				from []string
				to   string
			}{words[1 : len(words)-1], words[len(words)-1]})
		}
	}
	if len(lines) == 0 {
		t.Fatal("the Dockerfile copies nothing")
	}
	return lines
}

// TestPages writes the manual pages, compares them with --help, has them formatted, and looks for all of them in the cask, which has to
// name each.
func TestPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("moon", "man", "--dir", dir)
	commands := regexp.MustCompile(`(?m)^  ([a-z]+)  `).FindAllStringSubmatch(run("moon", "--help"), -1)
	if len(commands) < 20 {
		t.Fatalf("moon has the commands %q", commands)
	}
	pages := []string{"man/moon.1.gz"}
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, |    )(--[a-z-]+)`)
	for _, m := range commands {
		name := "moon-" + m[1] + ".1"
		pages = append(pages, "man/"+name+".gz")
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := run("moon", "man", m[1]); got != string(text) {
			t.Errorf("moon man %s is not %s", m[1], name)
		}
		plain := strings.ReplaceAll(string(text), `\-`, "-")
		for _, f := range flag.FindAllStringSubmatch(run("moon", m[1], "--help"), -1) {
			if !strings.Contains(plain, f[1]) {
				t.Errorf("%s lacks %s", name, f[1])
			}
		}
	}
	slices.Sort(pages)
	if cask := slices.Sorted(slices.Values(readConfiguration(t).Casks[0].Manpages)); !slices.Equal(cask, pages) {
		t.Errorf("the cask has the pages %q, and moon %q", cask, pages)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Log("no groff here: the pages are not formatted")
		return
	}
	written, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(written) != len(pages) {
		t.Fatalf("%q, %v", written, err)
	}
	for _, page := range written {
		if said := run("groff", "-man", "-Tutf8", "-ww", "-z", page); said != "" {
			t.Errorf("%s: %s", filepath.Base(page), said)
		}
	}
}

// TestCompletions has each shell that is here read its script.
func TestCompletions(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, err := exec.CommandContext(t.Context(), "moon", "completion", shell).Output()
		if err != nil || !strings.Contains(string(out), "complete "+shell) {
			t.Fatalf("%v\n%s", err, out)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "moon."+shell)
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.CommandContext(t.Context(), shell, "-n", path).CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
}
