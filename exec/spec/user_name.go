package spec

import "strings"

// IsUser reports whether a text can be a user's name: one that sudo and the like do not take for something else.
func IsUser(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\r\n:/#%\x00") && name[0] != '-'
}
