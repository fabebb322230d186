package spec

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// UnarchiveArgs are the arguments of unarchive. Once decoded, Wanted and Unwanted match names in the archive, and the limits
// are numbers.
type UnarchiveArgs struct {
	Src             string        `arg:"src" kind:"source" need:"yes" doc:"The archive: a path, or an https:// or http:// URL. Its format is recognised by its content."`
	Dest            string        `arg:"dest,path" kind:"path" need:"yes" doc:"The directory to unpack into. It must exist."`
	Creates         string        `arg:"creates" kind:"path" doc:"Unpack nothing if this path exists."`
	Include         []string      `arg:"include" doc:"Unpack only these: names in the archive, or shell patterns of names. A directory stands for everything in it."`
	Exclude         []string      `arg:"exclude" doc:"Exclude these, in the same way."`
	StripComponents int           `arg:"strip_components" default:"0" doc:"How many directories to remove from the front of each name. Members without any part left are skipped."`
	KeepNewer       bool          `arg:"keep_newer" default:"false" doc:"Keep files that are newer than in the archive."`
	ListFiles       bool          `arg:"list_files" default:"false" doc:"Return the names of all members to unpack."`
	Mode            Mode          `arg:"mode" implied:"as in the archive" doc:"Mode of the files: 0644 or u+x. With digits, directories can be searched by everyone who can read them."`
	Owner           string        `arg:"owner" implied:"as in a tar archive, for root" doc:"Name or id of the owner of everything unpacked."`
	Group           string        `arg:"group" implied:"as in a tar archive, for root" doc:"Name or id of the group."`
	MaxBytes        string        `arg:"max_bytes" default:"10g" doc:"How much may be unpacked: bytes, or with k, m, g or t. 0: no limit."`
	MaxEntries      int           `arg:"max_entries" default:"2000000" doc:"How many entries the archive may have. 0: no limit."`
	MaxRatio        int           `arg:"max_ratio" default:"500" doc:"How many times its own size an archive may unpack to, from 100 MiB on. 0: no limit."`
	RemoteSrc       bool          `arg:"remote_src" default:"false" doc:"src is on the machine of the step, not with the other files that steps copy; in a step of another user, that user reads it."`
	Copy            bool          `arg:"copy" default:"true" doc:"The opposite of remote_src."`
	Timeout         time.Duration `arg:"timeout" default:"10s" doc:"How long the server of a URL may be silent."`
	ValidateCerts   bool          `arg:"validate_certs" default:"true" doc:"Whether the certificate of the server of a URL is verified."`
	ExtraOpts       []string      `arg:"extra_opts" doc:"Options of tar that say the same as strip_components, exclude and keep_newer, such as --strip-components=1, or --no-same-owner."`

	FileAttributes

	Wanted   []*regexp.Regexp
	Unwanted []*regexp.Regexp
	OwnFiles bool // what is unpacked belongs to who unpacks it, also for root
	Bytes    int64
}

var _ = declareAction(&Action{
	Name:    "unarchive",
	Doc:     "Unpacks a tar or zip archive: what is not there, and what is something else there. Nothing in an archive gets out of dest.",
	Check:   true,
	Diff:    true,
	Proxies: true,
	args:    reflect.TypeFor[UnarchiveArgs](),
	Returns: append([]Return{
		{"dest", "The directory that was unpacked into."},
		{"src", "The archive."},
		{"format", "What it is: tar, tar.gz, tar.bz2, tar.xz, tar.zst or zip."},
		{"files", "The names in it, with list_files."},
		{"state", "What dest is: directory."},
	}, attributeReturns[:len(attributeReturns)-1]...),
	Least: "unarchive: {src: /nowhere/x.tgz, dest: /nowhere}",
	Example: `- unarchive: {src: files/app-1.2.tar.gz, dest: /opt/app, strip_components: 1}
- unarchive:
    src: http://localhost:8080/site.zip
    dest: /srv/www
    owner: www-data
    exclude: ["*.map", drafts]
`,
})

// There reports whether the archive is where it is unpacked, or comes from a server.
func (a *UnarchiveArgs) There() bool { return a.RemoteSrc || !a.Copy || strings.Contains(a.Src, "://") }

func (a *UnarchiveArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if strings.Contains(a.Src, "://") {
		problems = checkURL("src", a.Src, "https", "http")
	} else {
		for _, field := range []string{"validate_certs", "timeout"} {
			// validate_certs: true changes nothing for a file either, and may stay.
			if given(field) && (field == "timeout" || !a.ValidateCerts) {
				add(field, "`"+field+"` goes with a URL as `src` only", "")
			}
		}
	}
	if a.Timeout <= 0 {
		add("timeout", "`timeout` must be longer than nothing", "")
	}
	if other := a.takeOptions(); other != "" {
		add("extra_opts", "`extra_opts` has "+nameValue(other)+", but moon runs no tar program that could take it",
			"use `strip_components`, `include`, `exclude`, `keep_newer`, `owner` and `mode`")
	}
	if given("include") && given("exclude") {
		add("exclude", "`include` and `exclude` exclude each other", "give one of them")
	}
	if given("copy") && given("remote_src") {
		add("copy", "`copy` and `remote_src` say the same", "give one of them")
	}
	if a.Mode.Preserve() {
		add("mode", "without `mode` the modes are preserved anyway", "remove it")
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"strip_components", a.StripComponents}, {"max_entries", a.MaxEntries}, {"max_ratio", a.MaxRatio}} {
		if f.n < 0 {
			add(f.name, "`"+f.name+"` must be 0 or more", "")
		}
	}
	var ok bool
	if a.Bytes, ok = parseAmount(a.MaxBytes,
		map[string]int64{"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}); !ok ||
		a.Bytes < 0 {
		add("max_bytes", "`max_bytes` must be a number with b, k, m, g or t, such as 20g", "")
	}
	names := func(field string, patterns []string) (all []*regexp.Regexp) {
		for _, p := range patterns {
			// tar archives often begin with ./, which patterns omit.
			p = strings.Trim(strings.TrimPrefix(p, "./"), "/")
			re, err := regexp.Compile(`(?s)\A(?:` + globPattern(p) + `)(?:/.*)?\z`)
			if err != nil || p == "" {
				add(field, "`"+field+"` has "+nameValue(p)+", which is not a name pattern", "")
				continue
			}
			all = append(all, re)
		}
		return all
	}
	a.Wanted, a.Unwanted = names("include", a.Include), names("exclude", a.Exclude)
	return problems
}

// takeOptions takes those options of tar that mean what an argument does, and returns the first that does not.
func (a *UnarchiveArgs) takeOptions() (other string) {
	for i := 0; i < len(a.ExtraOpts); i++ {
		option := a.ExtraOpts[i]
		name, value, has := strings.Cut(option, "=")
		// tar takes the value of an option behind = or as the next word.
		if !has && i+1 < len(a.ExtraOpts) && (name == "--strip-components" || name == "--strip" || name == "--exclude") {
			i++
			value = a.ExtraOpts[i]
		}
		n, err := strconv.Atoi(value)
		switch name {
		case "":
		case "--strip-components", "--strip":
			if err != nil || n < 0 {
				return option
			}
			a.StripComponents = n
		case "--exclude":
			a.Exclude = append(a.Exclude, value)
		case "--keep-newer-files":
			a.KeepNewer = true
		case "--no-same-owner":
			a.OwnFiles = true
		default:
			return option
		}
	}
	return ""
}
