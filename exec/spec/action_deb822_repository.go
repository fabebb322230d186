package spec

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// Deb822RepositoryArgs are the arguments of deb822_repository. Once decoded, Slug is the name of its files.
type Deb822RepositoryArgs struct {
	Name            string   `arg:"name" need:"yes" doc:"The name of the source. In small letters, and with hyphens for blanks, it is the name of its files."`
	Types           []string `arg:"types" default:"deb" doc:"deb, deb-src or both."`
	URIs            []string `arg:"uris" doc:"Where the packages are."`
	Suites          []string `arg:"suites" doc:"The releases, as bookworm, or a path that ends in /."`
	Components      []string `arg:"components" doc:"The parts of them, as main."`
	Architectures   []string `arg:"architectures" doc:"The architectures, as amd64."`
	SignedBy        string   `arg:"signed_by" doc:"The key: a URL, from which it is put into /etc/apt/keyrings; a file on the host; the key itself; or fingerprints."`
	State           string   `arg:"state" default:"present" enum:"present|absent" doc:"Whether the source should exist. absent removes its key, too."`
	Mode            Mode     `arg:"mode" default:"0644" doc:"Mode of the file."`
	Enabled         *bool    `arg:"enabled" doc:"Whether apt uses the source."`
	Trusted         *bool    `arg:"trusted" doc:"Trust packages that nobody has signed."`
	Languages       []string `arg:"languages" doc:"The languages of descriptions that are fetched."`
	Targets         []string `arg:"targets" doc:"What is fetched, as Packages."`
	PDiffs          *bool    `arg:"pdiffs" doc:"Fetch only what has changed in the lists."`
	ByHash          *bool    `arg:"by_hash" doc:"Fetch lists by their hash."`
	AllowInsecure   *bool    `arg:"allow_insecure" doc:"Allow a source that nobody has signed."`
	AllowWeak       *bool    `arg:"allow_weak" doc:"Allow signatures with weak algorithms."`
	AllowDowngrade  *bool    `arg:"allow_downgrade_to_insecure" doc:"Allow a source that was signed before and no longer is."`
	CheckDate       *bool    `arg:"check_date" doc:"Check dates by the clock of the machine."`
	CheckValidUntil *bool    `arg:"check_valid_until" doc:"Refuse lists that have expired."`
	DateMaxFuture   *int     `arg:"date_max_future" doc:"How many seconds ahead of the clock a list may be."`
	InRelease       string   `arg:"inrelease_path" doc:"Where the file InRelease is, relative to its usual place."`
	Include         []string `arg:"include" doc:"Use only these packages of the source."`
	Exclude         []string `arg:"exclude" doc:"Use all packages of the source but these."`
	InstallPython   bool     `arg:"install_python_debian" default:"true" doc:"Accepted from playbooks written for Ansible; nothing is installed."`

	Slug string
}

var _ = declareAction(&Action{
	Name:    "deb822_repository",
	Doc:     "Adds a source of packages on Debian and Ubuntu, as a file of /etc/apt/sources.list.d in the deb822 format, with its key, or removes it.",
	Proxies: true,
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[Deb822RepositoryArgs](),
	Returns: append([]Return{
		{"repo", "The content of the file."},
		{"dest", "The file."},
		{"key_filename", "The file of the key, if signed_by is one or is fetched."},
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
	slugHyphens = regexp.MustCompile(`[_\s]+`)
	notInSlug   = regexp.MustCompile(`[^a-z0-9-]+`)
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
	for field, values := range map[string][]string{
		"name": {a.Name}, "uris": a.URIs, "suites": a.Suites, "components": a.Components, "architectures": a.Architectures,
		"languages": a.Languages, "targets": a.Targets, "include": a.Include, "exclude": a.Exclude, "inrelease_path": {a.InRelease},
	} {
		if strings.Contains(strings.Join(values, ""), "\n") {
			add(field, "`"+field+"` has a line break", "")
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
		// Of several lines each is indented, and an empty one is a dot.
		if lines := strings.Split(strings.TrimSpace(value), "\n"); len(lines) > 1 {
			fmt.Fprintf(&b, "%s:\n", name)
			for _, line := range lines {
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
