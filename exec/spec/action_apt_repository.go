package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// AptRepositoryArgs are the arguments of apt_repository. Once decoded, Line is Repo with single spaces, and Filename has a
// value, but for a PPA: then they depend on the host, and Owner and PPA are its parts.
type AptRepositoryArgs struct {
	Repo     string `arg:"repo" need:"yes" doc:"The line, as in sources.list: deb [signed-by=/etc/apt/keyrings/x.asc] https://example.com/apt stable main. Or ppa:OWNER/NAME, an archive of Launchpad, whose key is installed, too."`
	State    string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the line should be in any of the files."`
	Filename string `arg:"filename" implied:"made from the address" doc:"The file in /etc/apt/sources.list.d to add it to, without .list."`
	Mode     Mode   `arg:"mode" default:"0644" doc:"Mode of that file."`
	Update   bool   `arg:"update_cache,update-cache" default:"true" doc:"Update the package lists after a change. If that fails the change is undone."`
	Retries  int    `arg:"update_cache_retries" default:"5" doc:"How often to retry if they cannot be updated."`
	MaxDelay int    `arg:"update_cache_retry_max_delay" default:"12" doc:"The longest time between two attempts, in seconds."`
	Validate bool   `arg:"validate_certs" default:"true" doc:"Whether the certificates of Launchpad and of the key server are checked. The key is in any case."`
	Codename string `arg:"codename" implied:"the host's own" doc:"The release of Ubuntu to take a PPA for."`

	Line       string
	Owner, PPA string
}

var _ = declareAction(&Action{
	Name:  "apt_repository",
	Doc:   "Adds a source of packages on Debian and Ubuntu, or removes it.",
	Check: true,
	Diff:  true,
	args:  reflect.TypeFor[AptRepositoryArgs](),
	Returns: []Return{
		{"repo", "The line."},
		{"sources_added", "The files that were created."},
		{"sources_removed", "The files that were removed because they became empty."},
	},
	Least: "apt_repository: {repo: deb http://127.0.0.1/apt stable main}",
	Example: `- apt_repository:
    repo: deb [signed-by=/etc/apt/keyrings/app.asc] http://127.0.0.1/apt stable main
    filename: app
    update_cache: false
`,
})

var (
	repoLine   = pattern.New(`^deb(-src)? +(\[[^\]]*\] +)?\S+ +\S+`)
	repoScheme = pattern.New(`^[a-z+]+://([^/@]*@)?|^[a-z]+:`)
	// As Launchpad takes them. What follows goes into an address.
	ppaName     = pattern.New(`^ppa:([a-z0-9][a-z0-9.+-]*)(?:/([a-z0-9][a-z0-9.+-]*))?$`)
	ppaCodename = pattern.New(`^[a-z0-9][a-z0-9.+-]*$`)
	notInName   = pattern.New(`[^a-zA-Z0-9]+`)
)

func (a *AptRepositoryArgs) validateArgs(func(string) bool) []Problem {
	a.Line = strings.Join(strings.Fields(a.Repo), " ")
	if strings.Contains(a.Filename, "/") {
		return []Problem{{"filename", "`filename` is a name in /etc/apt/sources.list.d, and no path", ""}}
	}
	a.Filename = strings.TrimSuffix(a.Filename, ".list")
	if strings.HasPrefix(a.Line, "ppa:") {
		m := ppaName.FindStringSubmatch(a.Line)
		if m == nil {
			return []Problem{{"repo", "`repo` must be ppa:OWNER/NAME, found " + nameValue(a.Repo), ""}}
		}
		if a.Owner, a.PPA = m[1], m[2]; a.PPA == "" {
			a.PPA = "ppa"
		}
		if a.Codename != "" && !ppaCodename.MatchString(a.Codename) {
			return []Problem{{"codename", "`codename` must be a name such as jammy, found " + nameValue(a.Codename), ""}}
		}
		return nil
	}
	if !repoLine.MatchString(a.Line) {
		return []Problem{{
			"repo", "`repo` must be a line of sources.list, found " + nameValue(a.Repo),
			"it is like `deb https://example.com/apt stable main`",
		}}
	}
	if a.Filename == "" {
		// Ansible names the file after the address without its scheme, so an existing one is found again.
		rest := strings.TrimPrefix(strings.TrimPrefix(a.Line, "deb-src "), "deb ")
		if strings.HasPrefix(rest, "[") {
			_, rest, _ = strings.Cut(rest, "] ")
		}
		uri, _, _ := strings.Cut(rest, " ")
		a.Filename = strings.Trim(notInName.ReplaceAllString(repoScheme.ReplaceAllString(uri, ""), "_"), "_")
	}
	return nil
}

// SetLine makes a PPA a source for a release, as Ansible writes it now, and names its file as Ansible does. The second line is how
// Ansible wrote it before 2.16: it is the same source.
func (a *AptRepositoryArgs) SetLine(codename string) (old string) {
	path := a.Owner + "/" + a.PPA + "/ubuntu " + codename + " main"
	if a.Filename == "" {
		a.Filename = strings.Trim(notInName.ReplaceAllString(a.Line+"_"+codename, "_"), "_")
	}
	a.Line = "deb https://ppa.launchpadcontent.net/" + path
	return "deb http://ppa.launchpad.net/" + path
}
