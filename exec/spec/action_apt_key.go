package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// AptKeyArgs are the arguments of apt_key. Once decoded, ID has capitals and no 0x.
type AptKeyArgs struct {
	ID        string `arg:"id" implied:"the key that is given" doc:"The key: its fingerprint, or the last 8 or 16 digits of it. If the key is already there, nothing is fetched."`
	Data      string `arg:"data" doc:"The key itself, as text."`
	File      string `arg:"file" kind:"path" doc:"The file that the key is in."`
	URL       string `arg:"url" doc:"Where to fetch the key."`
	KeyServer string `arg:"keyserver" doc:"The key server to fetch id from."`
	Keyring   string `arg:"keyring" kind:"path" implied:"/etc/apt/trusted.gpg" doc:"The file of keys to put it into."`
	State     string `arg:"state" default:"present" enum:"present|absent" doc:"Whether apt should trust the key."`
	Validate  bool   `arg:"validate_certs" default:"true" doc:"Whether the certificate of the server is verified."`
}

var _ = declareAction(&Action{
	Name:    "apt_key",
	Doc:     "Adds a key that apt trusts, or removes it, with apt-key. Debian 13 has no apt-key: there put the key into /etc/apt/keyrings with get_url, and name it in apt_repository.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[AptKeyArgs](),
	Returns: []Return{
		{"id", "The given id."},
		{"key_id", "The last 16 digits of the key's fingerprint, or the id, if that is shorter."},
		{"short_id", "The last 8 digits."},
		{"fp", "The fingerprint, or the id, if the key itself is not known."},
		{"before", "The keys that were there."},
		{"after", "The keys that are there now."},
	},
	Least: "apt_key: {file: x}",
	Example: `- apt_key: {file: app.asc}
`,
})

var keyDigits = pattern.New(`^[0-9A-F]{8,40}$`)

func (a *AptKeyArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	sources := 0
	for _, given := range []string{a.Data, a.File, a.URL, a.KeyServer} {
		if given != "" {
			sources++
		}
	}
	switch {
	case a.State == "absent" && a.ID == "":
		problems = append(problems, Problem{"id", "`state: absent` needs the `id` of the key", ""})
	case a.State != "absent" && sources == 0:
		problems = append(problems, Problem{"url", "`apt_key` needs the key", "give one of `url`, `file`, `data`, `keyserver`"})
	case sources > 1:
		problems = append(problems, Problem{"url", "`apt_key` takes one key", "give one of `url`, `file`, `data`, `keyserver`"})
	case a.KeyServer != "" && a.ID == "":
		problems = append(problems, Problem{"keyserver", "`keyserver` needs the `id` of the key", ""})
	}
	written := a.ID
	// gpg prints ids without 0x and in capitals; people copy them with both.
	a.ID = strings.TrimPrefix(strings.ToUpper(strings.ReplaceAll(a.ID, " ", "")), "0X")
	if a.ID != "" && !keyDigits.MatchString(a.ID) {
		problems = append(problems, Problem{
			"id", "`id` must be the digits of a key, found " + nameValue(written),
			"they are 8, 16 or 40 of 0 to 9 and A to F",
		})
	}
	return problems
}
