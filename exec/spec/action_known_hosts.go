package spec

import (
	"reflect"
	"strings"
)

// KnownHostsArgs are the arguments of known_hosts. Once decoded, Key is without the names of hosts: type, key and comment.
type KnownHostsArgs struct {
	Name  string `arg:"name,host" need:"yes" doc:"The host, as [name]:port if its port is not 22."`
	Key   string `arg:"key" doc:"Its public key: ssh-ed25519 AAAA…, or a line as ssh-keyscan prints it."`
	Path  string `arg:"path" kind:"path" implied:"the known_hosts of the step's user" doc:"The file."`
	State string `arg:"state" default:"present" enum:"present|absent" doc:"Whether the key should be in the file. absent without a key removes all keys of the host."`
	Hash  bool   `arg:"hash_host" default:"false" doc:"Write a hash of the name, so that the file does not reveal which hosts it knows."`
}

var _ = declareAction(&Action{
	Name:    "known_hosts",
	Doc:     "Adds the public key of a host to those that ssh trusts, changes it or removes it.",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[KnownHostsArgs](),
	Returns: []Return{{"path", "The file."}, {"name", "The host."}, {"key", "The key."}},
	Least:   "known_hosts: {name: x, key: ssh-ed25519 AAAA, path: /nowhere/x}",
	Example: `- known_hosts:
    name: git.example.com
    key: git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdGOvvvl4ZJPW7BXbkrz7f0bz2VLSjsKQ1bUZ2Ef3xW
    path: /etc/ssh/ssh_known_hosts
`,
})

func (a *KnownHostsArgs) validateArgs(func(string) bool) []Problem {
	if a.Key == "" {
		if a.State == "present" {
			return []Problem{{"key", "`known_hosts` needs `key`", "ssh-keyscan HOST prints it; see that it is the right one"}}
		}
		return nil
	}
	words := strings.Fields(a.Key)
	// What ssh-keyscan prints begins with the name of the host.
	for i, word := range words {
		if isKeyType(word) && i+1 < len(words) {
			a.Key = strings.Join(words[i:], " ")
			return nil
		}
	}
	return []Problem{{"key", "`key` is not the public key of a host", "it is like `ssh-ed25519 AAAA…`"}}
}

func isKeyType(word string) bool {
	for _, prefix := range []string{"ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"} {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}
