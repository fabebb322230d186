package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
)

// account is a user, as a line of /etc/passwd has it.
type account struct {
	name    string
	uid     int
	gid     int
	comment string
	home    string
	shell   string
}

// userGroup is a line of /etc/group.
type userGroup struct {
	name    string
	gid     int
	members []string
}

// secrets is a line of /etc/shadow. A number that is not given is -1.
type secrets struct {
	password                       string
	min, max, warn, disable, until int // in days
}

// accounts are the users and groups of this machine, as its files have them now: a step may have made some a moment ago.
type accounts struct {
	users   []account
	groups  []userGroup
	foreign func(database, name string) string // a line of a directory service, or ""
	ahead   *fsys.Overlay
}

// readAccounts reads who there is. Unless the step wants this machine's own only, a name that is not in the files is also
// looked for where else the system finds names.
func readAccounts(ctx context.Context, a *exec.Attempt, local bool) (*accounts, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("users and groups can be changed on Linux only; on macOS use `command: sysadminctl` or `dscl`")
	}
	users, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil, err
	}
	groups, err := os.ReadFile("/etc/group")
	if err != nil {
		return nil, err
	}
	all := &accounts{users: parseAccounts(string(users)), groups: parseGroups(string(groups)), ahead: a.Overlay}
	all.foreign = func(database, name string) string {
		if local || !a.Installed("getent") {
			return ""
		}
		// getent asks every source of nsswitch.conf: LDAP and sssd know users that the files do not have.
		said, err := a.AskTool(ctx, exec.NewTool("getent", database, name))
		if err != nil || said.Code != 0 {
			return ""
		}
		return said.Stdout
	}
	return all, nil
}

func parseAccounts(text string) (all []account) {
	for f := range colonFields(text, 7) {
		uid, err1 := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if err1 == nil && err2 == nil {
			all = append(all, account{f[0], uid, gid, f[4], f[5], f[6]})
		}
	}
	return all
}

func parseGroups(text string) (all []userGroup) {
	for f := range colonFields(text, 4) {
		if gid, err := strconv.Atoi(f[2]); err == nil {
			all = append(all, userGroup{f[0], gid, strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' })})
		}
	}
	return all
}

// colonFields gives the fields of each line that has as many. Lines that include another database, like +@admins, have
// none to give.
func colonFields(text string, n int) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
			if len(f) < n || f[0] == "" || strings.HasPrefix(f[0], "+") || strings.HasPrefix(f[0], "-") {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// findUser finds a user by name; nil: there is none.
func (s *accounts) findUser(name string) *account {
	if i := slices.IndexFunc(s.users, func(u account) bool { return u.name == name }); i >= 0 {
		return &s.users[i]
	}
	if found := parseAccounts(s.foreign("passwd", name)); len(found) > 0 {
		return &found[0]
	}
	return nil
}

// findGroup finds a group by name, or by its id.
func (s *accounts) findGroup(name string) *userGroup {
	if i := slices.IndexFunc(s.groups, func(g userGroup) bool { return g.name == name }); i >= 0 {
		return &s.groups[i]
	}
	gid, err := strconv.Atoi(name)
	if i := slices.IndexFunc(s.groups, func(g userGroup) bool { return g.gid == gid }); err == nil && i >= 0 {
		return &s.groups[i]
	}
	if found := parseGroups(s.foreign("group", name)); len(found) > 0 {
		return &found[0]
	}
	return nil
}

// mustGroup is the group that a step names. An earlier step may make it.
func (s *accounts) mustGroup(name string) (*userGroup, error) {
	if g := s.findGroup(name); g != nil {
		return g, nil
	}
	if id, ok := s.ahead.ID("group", name); ok {
		// In a dry run the number only stands for a group that does not exist yet; groupadd chooses the real one.
		return &userGroup{name: name, gid: id}, nil
	}
	return nil, fault.Missing("", "group %s does not exist", name)
}

// groupName is the name of a group by its id, or the id.
func (s *accounts) groupName(gid int) string {
	if g := s.findGroup(strconv.Itoa(gid)); g != nil {
		return g.name
	}
	return strconv.Itoa(gid)
}

// listMemberships returns the groups a user is in besides its own.
func (s *accounts) listMemberships(u *account) []string {
	var in []string
	for _, g := range s.groups {
		if g.gid != u.gid && slices.Contains(g.members, u.name) {
			in = append(in, g.name)
		}
	}
	return in
}

// readSecrets finds a user's line in /etc/shadow. A user without one has a password that is never right.
func readSecrets(name string) (secrets, error) {
	// "!" is the hash of no password, and -1 an empty field: no limit is set.
	none := secrets{"!", -1, -1, -1, -1, -1}
	text, err := os.ReadFile("/etc/shadow")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case fsys.IsDenied(err):
		return none, errors.New("/etc/shadow: permission denied; a step that sets a password needs root")
	case err != nil:
		return none, err
	}
	for f := range colonFields(string(text), 8) {
		if f[0] == name {
			return secrets{f[1], countDays(f[3]), countDays(f[4]), countDays(f[5]), countDays(f[6]), countDays(f[7])}, nil
		}
	}
	return none, nil
}

func countDays(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return -1
}

// loginDefs is what /etc/login.defs says of a word; "" if it says nothing.
var loginDefs = sync.OnceValue(func() map[string]string {
	text, err := os.ReadFile("/etc/login.defs")
	if err != nil {
		return nil // a system that has none
	}
	words := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && !strings.HasPrefix(f[0], "#") {
			words[f[0]] = f[1]
		}
	}
	return words
})

// changeAccounts runs the programs that change users and groups, one after the other. What was known of ids is forgotten.
func changeAccounts(ctx context.Context, a *exec.Attempt, tools ...exec.Tool) error {
	defer forgetNames()
	for _, t := range tools {
		said, err := a.RunToolReading(ctx, t)
		// The shadow tools fail at once while another program has /etc/passwd locked. That passes, so it is worth a retry.
		if err := said.Explain(err, "cannot lock", "try again later"); err != nil {
			return err
		}
	}
	return nil
}

// forgetNames forgets what ids are called, but for those that stand for users and groups of a dry run.
func forgetNames() {
	fsys.IDNames.Range(func(key, _ any) bool {
		if id, err := strconv.Atoi(key.(string)[1:]); err == nil && int64(id) <= maxID {
			fsys.IDNames.Delete(key)
		}
		return true
	})
}

// maxID is the greatest id of a user or a group.
const maxID = 1<<32 - 2

// accountChange is a change to users and groups. From the look at the files to its end no other step of this process is
// at them: whoever comes second would find them locked.
func accountChange(ctx context.Context, name, state string) (*exec.Change, error) {
	unlock, err := edits.takeKey(ctx, "accounts")
	if err != nil {
		return nil, err
	}
	c := &exec.Change{Unlock: unlock, Fields: map[string]any{"name": name, "state": state}}
	return c.PlanNothing(), nil
}

// lacksTool is the error for a program that is not there. An earlier step may install it.
func lacksTool(a *exec.Attempt, name, packages string) error {
	if a.Installed(name) {
		return nil
	}
	return fault.Missing("", "%s is not installed; it is in the package %s", name, packages)
}

// shadowPackages are the packages with useradd and its like.
const shadowPackages = "passwd (Debian), shadow-utils (Fedora, RHEL) or shadow (Alpine, Arch, SUSE)"
