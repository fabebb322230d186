package spec

import (
	"reflect"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// UserArgs are the arguments of user. Once decoded, Groups has one name in each entry; nil: leave them.
type UserArgs struct {
	Name           string   `arg:"name,user" need:"yes" doc:"The user."`
	State          string   `arg:"state" default:"present" enum:"present|absent" doc:"Whether the user should exist."`
	UID            *int     `arg:"uid" doc:"Its id."`
	NonUnique      bool     `arg:"non_unique" default:"false" doc:"Allow a uid that another user has."`
	Group          string   `arg:"group" implied:"for a new user a group of its own name" doc:"Name or id of its primary group, which must exist."`
	Groups         []string `arg:"groups" doc:"Names or ids of its other groups; empty: none."`
	Append         bool     `arg:"append" default:"false" doc:"Add it to groups, and keep its other groups."`
	Comment        *string  `arg:"comment" doc:"Its full name, or what it is for."`
	Home           string   `arg:"home" kind:"path" implied:"for a new user a directory in /home" doc:"Its home directory."`
	CreateHome     bool     `arg:"create_home,createhome" default:"true" doc:"Create the home directory if it does not exist."`
	MoveHome       bool     `arg:"move_home" default:"false" doc:"When home changes, move the contents of the old one there."`
	Skeleton       string   `arg:"skeleton" kind:"path" implied:"/etc/skel" doc:"The directory whose files a new home directory gets."`
	Umask          Mode     `arg:"umask" implied:"what /etc/login.defs says" doc:"The umask for a new home directory: 077."`
	Shell          string   `arg:"shell" kind:"path" doc:"Its shell."`
	System         bool     `arg:"system" default:"false" doc:"Give a new user an id from the system range."`
	UIDMin         *int     `arg:"uid_min" implied:"what /etc/login.defs says" doc:"The lowest id for a new user."`
	UIDMax         *int     `arg:"uid_max" implied:"what /etc/login.defs says" doc:"The highest id for a new user."`
	Password       *string  `arg:"password" doc:"The hash of its password, as password_hash returns it, or ! or * so that no password works."`
	UpdatePassword string   `arg:"update_password" default:"always" enum:"always|on_create" doc:"Whether to change the password of a user that exists."`
	PasswordLock   *bool    `arg:"password_lock" implied:"left as it is" doc:"Whether the password is locked. Other ways to log in still work."`
	Expires        *int     `arg:"expires" doc:"When the account ends, in seconds since 1970; a negative number: never."`
	ExpireMin      *int     `arg:"password_expire_min" doc:"How many days a password must be kept."`
	ExpireMax      *int     `arg:"password_expire_max" doc:"After how many days it must be changed."`
	ExpireWarn     *int     `arg:"password_expire_warn" doc:"How many days before there is a warning."`
	ExpireDisable  *int     `arg:"password_expire_account_disable" doc:"How many days after that the account is closed; -1: never."`
	Local          bool     `arg:"local" default:"false" doc:"Use only the users and groups of this machine, not those of a directory service such as LDAP."`
	Remove         bool     `arg:"remove" default:"false" doc:"With state: absent, remove its home directory and mail too."`
	Force          bool     `arg:"force" default:"false" doc:"With state: absent, remove it even if it is logged in. With generate_ssh_key, replace the existing key."`
	GenerateKey    bool     `arg:"generate_ssh_key" default:"false" doc:"Create an SSH key if it does not exist."`
	KeyType        string   `arg:"ssh_key_type" default:"rsa" enum:"rsa|ed25519|ecdsa" doc:"The type of key to create."`
	KeyBits        int      `arg:"ssh_key_bits" implied:"3072 for rsa, 256 for ecdsa" doc:"Its size."`
	KeyFile        string   `arg:"ssh_key_file" implied:".ssh/id_rsa, or as its type is called" doc:"Where to put it. A relative path starts in the home directory; the public key gets .pub at the end."`
	KeyComment     string   `arg:"ssh_key_comment" implied:"ansible-generated on, and the name of the machine" doc:"A comment in it."`
	KeyPassphrase  string   `arg:"ssh_key_passphrase" implied:"none" doc:"The passphrase that it is encrypted with."`
}

var _ = declareAction(&Action{
	Name:  "user",
	Doc:   "Creates, changes and removes users. What is not given is left as it is.",
	Check: true,
	args:  reflect.TypeFor[UserArgs](),
	Returns: []Return{
		{"name", "The user."},
		{"state", "present or absent."},
		{"uid", "Its id."},
		{"group", "The id of its own group."},
		{"groups", "The groups it was to be in, with commas between."},
		{"comment", "Its comment."},
		{"home", "Its home directory."},
		{"shell", "Its shell."},
		{"ssh_key_file", "With generate_ssh_key, the file of the private key."},
		{"ssh_public_key", "The public key."},
		{"ssh_fingerprint", "Its size, fingerprint, comment and type, as ssh-keygen -l has them."},
	},
	Least: "user: {name: x}",
	Example: `- group: {name: deploy, gid: 1200}
- user:
    name: deploy
    uid: 1200
    group: deploy
    groups: [adm]
    shell: /bin/bash
    password: "{{ secret | password_hash('sha512', salt) }}"
    update_password: on_create
- user: {name: worker, system: true, create_home: false, shell: /usr/sbin/nologin}
- user: {name: intern, state: absent, remove: true}
`,
})

// hashedPassword matches what /etc/shadow may hold. What is left of DES, 13 characters, cannot be distinguished from a password.
var hashedPassword = pattern.New(`^(!*\$[0-9a-z-]+\$[^:\s]+|[!*]+)$`)

func (a *UserArgs) validateArgs(given func(string) bool) []Problem {
	problems := checkAccount(a.Name, a.State)
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.State == "present" {
		switch {
		case a.NonUnique && !given("uid"):
			add("non_unique", "`non_unique` needs `uid`", "")
		case a.MoveHome && !given("home"):
			add("move_home", "`move_home` needs `home`", "")
		}
	}
	// A clear password would end up in /etc/shadow, where no login matches it.
	if given("password") && !hashedPassword.MatchString(*a.Password) {
		add("password", "`password` must be a hash, not the password itself",
			"write `| password_hash('sha512', salt)` behind it, or give ! for none")
	}
	// A colon separates the fields of /etc/passwd, and a newline the users.
	if given("comment") && strings.ContainsAny(*a.Comment, ":\n") {
		add("comment", "`comment` can have no colon and no second line", "")
	}
	for _, f := range []struct{ field, path string }{{"home", a.Home}, {"shell", a.Shell}} {
		if strings.ContainsAny(f.path, ":\n") {
			add(f.field, "`"+f.field+"` can have no colon", "")
		}
	}
	problems = append(problems, checkUmask(a.Umask)...)
	if given("group") {
		problems = append(problems, checkAccountName("group", a.Group)...)
	}
	if given("groups") {
		// nil means that the groups stay as they are, and an empty list that there are none.
		a.Groups = commaList(a.Groups)
		for _, g := range a.Groups {
			problems = append(problems, checkAccountName("groups", g)...)
		}
	}
	problems = append(problems, checkIDs(idField{"uid", a.UID}, idField{"uid_min", a.UIDMin}, idField{"uid_max", a.UIDMax})...)
	return append(problems, a.checkKey(given)...)
}

func (a *UserArgs) checkKey(given func(string) bool) (problems []Problem) {
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	sizes := map[string][]int{"rsa": {1024, 2048, 3072, 4096, 8192}, "ecdsa": {256, 384, 521}, "ed25519": {256}}
	if given("ssh_key_bits") && !slices.Contains(sizes[a.KeyType], a.KeyBits) {
		hint := map[string]string{
			"rsa": "it can have 2048, 3072, 4096 or 8192", "ecdsa": "it can have 256, 384 or 521",
			"ed25519": "remove it",
		}
		add("ssh_key_bits", "a key of type "+a.KeyType+" cannot have that many bits", hint[a.KeyType])
	}
	if strings.Contains(a.KeyComment, "\n") {
		add("ssh_key_comment", "`ssh_key_comment` has more than one line", "")
	}
	return problems
}

func checkUmask(m Mode) []Problem {
	if len(m.changes) > 0 || m.preserve || m.bits > 0o777 {
		return []Problem{{"umask", "`umask` must be octal digits like 077", ""}}
	}
	return nil
}

// commaList splits entries at their commas and leaves out empty ones: playbooks write both [a, b] and "a,b".
func commaList(list []string) []string {
	all := []string{}
	for _, entry := range list {
		for part := range strings.SplitSeq(entry, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}
