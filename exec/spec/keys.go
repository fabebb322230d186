package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/exec/pki"
	"moon/internal/pattern"
)

// PrivateKey is which private key a step uses.
type PrivateKey struct {
	KeyPath       string `arg:"privatekey_path" kind:"path" doc:"The file with the private key."`
	KeyContent    string `arg:"privatekey_content" doc:"The private key itself, instead of its file."`
	KeyPassphrase string `arg:"privatekey_passphrase" doc:"The passphrase that it is encrypted with."`
}

// OwnFile are the arguments of a file that is made from keys.
type OwnFile struct {
	Path          string `arg:"path" kind:"path" need:"yes" doc:"The file."`
	State         string `arg:"state" default:"present" enum:"present|absent" doc:"Whether it should exist."`
	Force         bool   `arg:"force" default:"false" doc:"Make it again, whatever it is."`
	Backup        bool   `arg:"backup" default:"false" doc:"Keep the old file next to the new one."`
	ReturnContent bool   `arg:"return_content" default:"false" doc:"Put the content of the file into the result."`
	Mode          Mode   `arg:"mode" implied:"0644 less the umask for a new file" doc:"Its mode."`
	Owner         string `arg:"owner" doc:"Its owner."`
	Group         string `arg:"group" doc:"Its group."`
	Backend       string `arg:"select_crypto_backend" default:"auto" enum:"auto|cryptography" doc:"Ignored: moon needs no Python library."`

	FileAttributes
}

// checkKey reports a private key that is given twice, or not at all.
func (k *PrivateKey) checkKey(action string, required bool) []Problem {
	switch {
	case k.KeyPath != "" && k.KeyContent != "":
		return []Problem{{"privatekey_content", "`privatekey_path` and `privatekey_content` exclude each other", "give one of them"}}
	case required && k.KeyPath == "" && k.KeyContent == "":
		return []Problem{{"privatekey_path", "`" + action + "` needs `privatekey_path` or `privatekey_content`", ""}}
	}
	return nil
}

var nextName = pattern.New(`,\s*((?:DNS|IP|email|URI|RID|dirName|otherName):)`)

// nameList splits a text of several names at the commas that a new one follows: a name may have commas, too.
func nameList(list []string) []string {
	var all []string
	for _, text := range list {
		all = append(all, strings.Split(nextName.ReplaceAllString(text, "\n$1"), "\n")...)
	}
	return all
}

// wordList is commaList for what may not be given at all.
func wordList(list []string) []string {
	if list == nil {
		return nil
	}
	return commaList(list)
}

// subjectParts reads a map of the parts of a name, of which one may have several values.
func subjectParts(m map[string]any, order func(names []string)) (parts []pki.Attribute, err error) {
	names := slices.Collect(maps.Keys(m))
	order(names)
	for _, name := range names {
		values, ok := asStrings(m[name])
		if !ok {
			return nil, fmt.Errorf("must have texts or lists of them, found %s as %s", nameValue(m[name]), name)
		}
		for _, value := range values {
			parts = append(parts, pki.Attribute{Name: name, Value: value})
		}
	}
	return parts, pki.CheckName(parts)
}
