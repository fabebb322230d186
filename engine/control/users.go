package control

import (
	"os"
	"os/user"
	"slices"
	"strconv"
)

// Self is what this user is called where users are distinguished. It never comes from the environment, so one user has one name.
func Self() string { return userName(os.Geteuid()) }

func userName(uid int) string {
	id := strconv.Itoa(uid)
	// For a user that the machine does not list the library asks the environment, so the name has to lead back to the user.
	if u, err := user.LookupId(id); err == nil {
		if same, err := user.Lookup(u.Username); err == nil && same.Uid == id {
			return u.Username
		}
	}
	return "uid " + id
}

// InGroup reports whether a user of this machine is in a group of it.
func InGroup(name, group string) bool {
	u, err := user.Lookup(name)
	if err != nil {
		return false
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return false
	}
	ids, err := u.GroupIds()
	return err == nil && slices.Contains(ids, g.Gid)
}
