package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// RPMKeyArgs are the arguments of rpm_key. Once decoded, KeyID has capitals if the key is given by its id, and Fingerprints have neither
// blanks nor small letters.
type RPMKeyArgs struct {
	Key          string   `arg:"key" need:"yes" doc:"The key: a URL, a file on the host, or the id of one that is already imported."`
	State        string   `arg:"state" default:"present" enum:"present|absent" doc:"Whether rpm should trust the key."`
	Fingerprints []string `arg:"fingerprint" doc:"The fingerprint that the key must have, before it is imported."`
	Validate     bool     `arg:"validate_certs" default:"true" doc:"Whether the certificate of the server is verified."`

	KeyID string
}

var _ = declareAction(&Action{
	Name:    "rpm_key",
	Doc:     "Imports a key that rpm trusts, or removes it.",
	Process: "*",
	Proxies: true,
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[RPMKeyArgs](),
	Returns: []Return{{"key_id", "The id of the key: the last 16 digits of its fingerprint, or the id that was given."}},
	Least:   "rpm_key: {key: /nowhere/key.asc}",
	Example: `- rpm_key: {key: /work/app.asc}
- rpm_key: {key: DEADB33F, state: absent}
`,
})

var rpmKeyID = pattern.New(`^(?i:0x)?([0-9A-Fa-f]{8,40})$`)

func (a *RPMKeyArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	for i, text := range a.Fingerprints {
		a.Fingerprints[i] = strings.ToUpper(strings.Join(strings.Fields(text), ""))
		if !keyDigits.MatchString(a.Fingerprints[i]) || len(a.Fingerprints[i]) < 32 {
			problems = append(problems, Problem{"fingerprint", "`fingerprint` must be 40 hex digits, found " + nameValue(text), ""})
		}
	}
	switch m := rpmKeyID.FindStringSubmatch(strings.TrimSpace(a.Key)); {
	case m != nil:
		a.KeyID = strings.ToUpper(m[1])
	case !strings.Contains(a.Key, "://") && !strings.HasPrefix(a.Key, "/"):
		problems = append(problems, Problem{"key", "`key` must be a URL, an absolute path or the id of a key, found " + nameValue(a.Key), ""})
	}
	return problems
}
