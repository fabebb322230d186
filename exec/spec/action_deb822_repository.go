package spec

import (
	"fmt"
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// Deb822RepositoryArgs are the arguments of deb822_repository. Once decoded, Slug is the name of its files.
type Deb822RepositoryArgs struct {
	Name            string   `arg:"name" need:"yes" doc:"The name of the source. Its files are named after it, in lower case and with hyphens instead of spaces."`
	Types           []string `arg:"types" default:"deb" doc:"deb, deb-src or both."`
	URIs            []string `arg:"uris" doc:"Where the packages are."`
	Suites          []string `arg:"suites" doc:"The releases, such as bookworm, or a path that ends in /."`
	Components      []string `arg:"components" doc:"The parts of a release, such as main."`
	Architectures   []string `arg:"architectures" doc:"The architectures, such as amd64."`
	SignedBy        string   `arg:"signed_by" doc:"The key: a URL (it is downloaded to /etc/apt/keyrings), a file on the host, the key itself, or fingerprints of trusted keys."`
	State           string   `arg:"state" default:"present" enum:"present|absent" doc:"Whether the source should exist. absent also removes the key that was downloaded for it."`
	Mode            Mode     `arg:"mode" default:"0644" doc:"Mode of the file."`
	Enabled         *bool    `arg:"enabled" implied:"true" doc:"Whether apt uses the source."`
	Trusted         *bool    `arg:"trusted" implied:"only if a trusted key has signed it" doc:"Trust packages without a valid signature."`
	Languages       []string `arg:"languages" doc:"The languages of the descriptions to fetch."`
	Targets         []string `arg:"targets" doc:"What is fetched, such as Packages."`
	PDiffs          *bool    `arg:"pdiffs" implied:"as apt is configured" doc:"Fetch only the differences between lists."`
	ByHash          *bool    `arg:"by_hash" implied:"as the source says" doc:"Fetch lists under the names of their hashes."`
	AllowInsecure   *bool    `arg:"allow_insecure" implied:"as apt is configured" doc:"Allow a source that is not signed."`
	AllowWeak       *bool    `arg:"allow_weak" implied:"as apt is configured" doc:"Allow signatures with weak algorithms."`
	AllowDowngrade  *bool    `arg:"allow_downgrade_to_insecure" implied:"as apt is configured" doc:"Allow a source that was signed before and no longer is."`
	CheckDate       *bool    `arg:"check_date" implied:"as apt is configured" doc:"Check dates by the clock of the machine."`
	CheckValidUntil *bool    `arg:"check_valid_until" implied:"as apt is configured" doc:"Refuse lists that have expired."`
	DateMaxFuture   *int     `arg:"date_max_future" doc:"How many seconds ahead of the clock a list may be."`
	InRelease       string   `arg:"inrelease_path" doc:"Where the file InRelease is, relative to its usual place."`
	Include         []string `arg:"include" doc:"Use only these packages of the source."`
	Exclude         []string `arg:"exclude" doc:"Use all packages of the source but these."`
	InstallPython   bool     `arg:"install_python_debian" default:"true" doc:"Accepted from playbooks written for Ansible; nothing is installed."`

	Slug string
}

var _ = declareAction(&Action{
	Name:    "deb822_repository",
	Doc:     "Adds a package source with its key on Debian and Ubuntu, as a .sources file (deb822), or removes it. Run apt with update_cache if that has changed something.",
	Proxies: true,
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[Deb822RepositoryArgs](),
	Returns: append([]Return{
		{"repo", "The content of the file."},
		{"dest", "The file."},
		{"key_filename", "The file of the key, if signed_by is a file or a URL."},
	}, attributeReturns...),
	Least: "deb822_repository: {name: x, uris: http://127.0.0.1, suites: stable, components: main}",
	Example: `- deb822_repository:
    name: app
    uris: http://127.0.0.1/apt
    suites: bookworm
    components: [main, contrib]
    architectures: amd64
    signed_by: /etc/apt/keyrings/other.asc
- deb822_repository: {name: Old Source, state: absent}
`,
})

var (
	slugHyphens = pattern.New(`[_\s]+`)
	notInSlug   = pattern.New(`[^a-z0-9-]+`)
)

func (a *Deb822RepositoryArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Slug = notInSlug.ReplaceAllString(slugHyphens.ReplaceAllString(strings.ToLower(a.Name), "-"), "")
	if strings.Trim(a.Slug, "-") == "" {
		add("name", "`name` needs letters or digits, found "+nameValue(a.Name), "")
	}
	for _, typ := range a.Types {
		if typ != "deb" && typ != "deb-src" {
			add("types", "`types` must be deb or deb-src, found "+nameValue(typ), "")
		}
	}
	if given("include") && given("exclude") {
		add("exclude", "`include` and `exclude` exclude each other", "give one of them")
	}
	// A line break would begin another field.
	for _, f := range []struct {
		name   string
		values []string
	}{
		{"name", []string{a.Name}},
		{"uris", a.URIs},
		{"suites", a.Suites},
		{"components", a.Components},
		{"architectures", a.Architectures},
		{"languages", a.Languages},
		{"targets", a.Targets},
		{"include", a.Include},
		{"exclude", a.Exclude},
		{"inrelease_path", []string{a.InRelease}},
	} {
		if strings.Contains(strings.Join(f.values, ""), "\n") {
			add(f.name, "`"+f.name+"` has a line break", "")
		}
	}
	return append(problems, checkAttributes(a.Mode)...)
}

// Text is the content of the file. Its fields are in the order of their names in a playbook. Signed is what signed_by has become.
func (a *Deb822RepositoryArgs) Text(signed string) string {
	var b strings.Builder
	field := func(name, value string) {
		if value == "" {
			return
		}
		// Each of several lines is indented, and an empty one is a dot.
		if strings.Contains(value, "\n") {
			fmt.Fprintf(&b, "%s:\n", name)
			for line := range strings.SplitSeq(strings.TrimSpace(value), "\n") {
				if line = strings.TrimSpace(line); line == "" {
					line = "."
				}
				fmt.Fprintf(&b, "    %s\n", line)
			}
			return
		}
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	list := func(name string, values []string) { field(name, strings.Join(values, " ")) }
	flag := func(name string, value *bool) {
		if value != nil {
			field(name, map[bool]string{true: "yes", false: "no"}[*value])
		}
	}
	flag("Allow-Downgrade-To-Insecure", a.AllowDowngrade)
	flag("Allow-Insecure", a.AllowInsecure)
	flag("Allow-Weak", a.AllowWeak)
	list("Architectures", a.Architectures)
	flag("By-Hash", a.ByHash)
	flag("Check-Date", a.CheckDate)
	flag("Check-Valid-Until", a.CheckValidUntil)
	list("Components", a.Components)
	if a.DateMaxFuture != nil {
		field("Date-Max-Future", fmt.Sprint(*a.DateMaxFuture))
	}
	flag("Enabled", a.Enabled)
	list("Exclude", a.Exclude)
	list("Include", a.Include)
	field("Inrelease-Path", a.InRelease)
	list("Languages", a.Languages)
	field("X-Repolib-Name", a.Name)
	flag("Pdiffs", a.PDiffs)
	field("Signed-By", signed)
	list("Suites", a.Suites)
	list("Targets", a.Targets)
	flag("Trusted", a.Trusted)
	list("Types", a.Types)
	list("URIs", a.URIs)
	return b.String()
}
