package spec

import (
	"reflect"
	"strings"
	"time"

	"moon/exec/digest"
)

// GetURLArgs are the arguments of get_url. Once decoded, a checksum is an algorithm, and the digits or the URL of a file
// with them.
type GetURLArgs struct {
	URL      string        `arg:"url" need:"yes" doc:"What to download: https://, http:// or file://."`
	Dest     string        `arg:"dest" kind:"path" need:"yes" doc:"Where to save it. If this is a directory or ends with a slash, the file is named by the server, or by the last part of the URL."`
	Checksum string        `arg:"checksum" doc:"The expected checksum: sha256: (or sha1, sha224, sha384, sha512, md5) and the digits, or the URL of a file with lines of digits and names."`
	SHA256   string        `arg:"sha256sum" doc:"The digits of a checksum: sha256:, as Ansible 2.13 and earlier took them."`
	Force    bool          `arg:"force" default:"false" doc:"Download it even if dest exists, and replace dest if it differs. If false, an existing dest is not changed, provided it has the checksum, if one is given."`
	Timeout  time.Duration `arg:"timeout" default:"10s" doc:"How long the server may be silent."`
	Backup   bool          `arg:"backup" default:"false" doc:"Keep a backup of the replaced file in the same directory, with the time in its name."`
	Mode     Mode          `arg:"mode" implied:"0644 less the umask for new files" doc:"0644, 644 or u+x."`
	Owner    string        `arg:"owner" doc:"Name or id of the owner."`
	Group    string        `arg:"group" doc:"Name or id of the group."`
	TmpDest  string        `arg:"tmp_dest" kind:"path" implied:"the directory of dest" doc:"The directory that a large file is downloaded to first."`
	Retries  int           `arg:"retries" doc:"Refused: retries is a key of the step, not of get_url."`

	FileAttributes

	HTTPArgs

	Algorithm string // "": no checksum
	Digits    string
	Sums      string // a URL, when the digits are not known
}

var _ = declareAction(&Action{
	Name:    "get_url",
	Aliases: []string{"download"},
	Doc:     "Downloads a file. The old file is replaced atomically, once the download is complete and its checksum is right.",
	Check:   true,
	Diff:    true,
	Proxies: true,
	args:    reflect.TypeFor[GetURLArgs](),
	Returns: append([]Return{
		{"dest", "The file that was written."},
		{"url", "What was downloaded, after redirects."},
		{"checksum", "SHA-1 of the content."},
		{"checksum_src", "The same, of what was downloaded."},
		{"checksum_dest", "The same, of what was there before."},
		{"status_code", "The status that the server answered with."},
		{"msg", "The status in words, with the size."},
		{"elapsed", "How long it took, in seconds."},
		{"state", "What is there now: file."},
	}, attributeReturns...),
	Least: "get_url: {url: \"https://example.com/x\", dest: /nowhere/x}",
	Example: `- get_url:
    url: http://localhost:8080/tool-1.2
    dest: /usr/local/bin/tool
    mode: "0755"
    checksum: sha256:{{ tool_sha256 }}
- get_url: {url: "http://localhost:8080/motd", dest: /etc/motd, force: true, backup: true}
`,
})

func (a *GetURLArgs) validateArgs(given func(string) bool) []Problem {
	problems := append(checkURL("url", a.URL, "https", "http", "file"), a.checkArgs(given)...)
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if given("retries") {
		add("retries", "`retries` is a key of the step", "write it next to `get_url`; temporary failures are retried without it")
	}
	if a.Mode.Preserve() {
		add("mode", "`mode: preserve` goes with `copy` and `template` only", "")
	}
	if a.Timeout <= 0 {
		add("timeout", "`timeout` must be longer than nothing", "")
	}
	if a.SHA256 != "" {
		if a.Checksum != "" {
			add("sha256sum", "`sha256sum` and `checksum` are two ways to say the same", "give `checksum` only")
		}
		a.Checksum = "sha256:" + a.SHA256
	}
	if a.Checksum == "" {
		return problems
	}
	algorithm, rest, _ := strings.Cut(strings.TrimSpace(a.Checksum), ":")
	// A checksum with a URL in it is the address of a list of checksums.
	if strings.Contains(rest, "://") {
		a.Algorithm, a.Sums = strings.ToLower(algorithm), rest
		if _, known := digest.Lengths[a.Algorithm]; !known {
			add("checksum", "`checksum` begins with "+algorithm+", which is not a hash algorithm", "write sha256: and the URL")
		}
		return append(problems, checkURL("checksum", rest, "https", "http", "file")...)
	}
	var err error
	if a.Algorithm, a.Digits, err = digest.Checksum(a.Checksum); err != nil {
		add("checksum", "`checksum` "+err.Error(), "")
	}
	return problems
}
