package spec

import (
	"reflect"
	"strings"

	"golang.org/x/crypto/ssh"
)

// AuthorizedKeyArgs are the arguments of authorized_key. Once decoded, Keys has one key in each entry.
type AuthorizedKeyArgs struct {
	User       string  `arg:"user" need:"yes" doc:"Who may log in with the key."`
	Key        string  `arg:"key" need:"yes" doc:"The public key, or several, one in each line; or the address of a file with them, as https://github.com/NAME.keys."`
	State      string  `arg:"state" default:"present" enum:"present|absent" doc:"Whether the key should be in the file."`
	Path       string  `arg:"path" kind:"path" implied:".ssh/authorized_keys in the user's home directory" doc:"The file."`
	ManageDir  bool    `arg:"manage_dir" default:"true" doc:"Create the directory of the file if it does not exist, accessible to the user alone."`
	KeyOptions *string `arg:"key_options" implied:"what stands in front of the key" doc:"What the key may be used for, as from=\"10.0.0.0/8\",no-pty."`
	Comment    *string `arg:"comment" implied:"what stands behind the key" doc:"The comment of the key."`
	Exclusive  bool    `arg:"exclusive" default:"false" doc:"Remove all other keys. In a loop each item removes the keys of the other items: give all keys at once."`
	Follow     bool    `arg:"follow" default:"false" doc:"If the file is a link, edit the file it points to, which must be below the same directory."`

	ValidateCerts bool `arg:"validate_certs" default:"true" doc:"Whether the certificate of the server is verified that the key is loaded from."`

	Keys []PublicKey
}

// URL is the address that the keys are loaded from; "" if they are given.
func (a *AuthorizedKeyArgs) URL() string {
	key := strings.TrimSpace(a.Key)
	if !strings.HasPrefix(key, "http://") && !strings.HasPrefix(key, "https://") || strings.ContainsAny(key, " \t\n") {
		return ""
	}
	return key
}

// PublicKey is a line of a file of authorized keys.
type PublicKey struct {
	ID      string // what tells it from others: its type and the key itself
	Options string
	Comment string
}

func (k PublicKey) String() string {
	return strings.TrimSpace(strings.TrimSpace(k.Options+" "+k.ID) + " " + k.Comment)
}

// ParsePublicKey reads a line of a file of authorized keys.
func ParsePublicKey(line string) (PublicKey, bool) {
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return PublicKey{}, false
	}
	return PublicKey{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), strings.Join(options, ","), comment}, true
}

var _ = declareAction(&Action{
	Name:    "authorized_key",
	Aliases: []string{"ansible.posix.authorized_key"},
	Doc:     "Adds an SSH key that a user may log in with, or removes it.",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[AuthorizedKeyArgs](),
	Returns: []Return{
		{"user", "The user."},
		{"path", "The file."},
		{"keys", "How many keys are in it now."},
	},
	Least: "authorized_key: {user: root, key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0pD5wzWBJ1DGPvzR5JqFtYVwLHcyrPBQxgBFkGmP0a}",
	Example: `- authorized_key:
    user: deploy
    key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0pD5wzWBJ1DGPvzR5JqFtYVwLHcyrPBQxgBFkGmP0a ann@laptop
    key_options: no-port-forwarding,from="10.0.0.0/8"
`,
})

func (a *AuthorizedKeyArgs) validateArgs(func(string) bool) []Problem {
	problems := checkAccountName("user", a.User)
	if a.URL() != "" {
		return problems
	}
	return append(problems, a.ReadKeys(a.Key)...)
}

// ReadKeys fills Keys with those of a text.
func (a *AuthorizedKeyArgs) ReadKeys(text string) (problems []Problem) {
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	a.Keys = nil
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://") {
			add("key", "`key` has an address among other lines", "give the address alone, in a task of its own")
			return problems
		}
		key, ok := ParsePublicKey(line)
		if !ok {
			add("key", "`key` has a line that is not a public key: "+nameValue(line), "it is what a file like id_ed25519.pub holds")
			continue
		}
		if a.KeyOptions != nil {
			key.Options = *a.KeyOptions
		}
		if a.Comment != nil {
			key.Comment = *a.Comment
		}
		// The line is read back: options with a quote or a newline could make another key of it.
		if again, ok := ParsePublicKey(key.String()); !ok || again.ID != key.ID || strings.Contains(key.String(), "\n") {
			add("key_options", "`key_options` and `comment` do not make a line with the key", "")
			continue
		}
		a.Keys = append(a.Keys, key)
	}
	if len(a.Keys) == 0 && len(problems) == 0 {
		add("key", "`key` has no key", "")
	}
	return problems
}
