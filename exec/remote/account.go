package remote

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// account is a user as the system starts processes.
type account struct {
	uid, gid uint32
	groups   []uint32
	home     string
}

func findAccount(name string) (*account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("there is no user %s", name)
	}
	a := &account{home: u.HomeDir}
	if a.uid, err = parseNumber(u.Uid); err != nil {
		return nil, err
	}
	if a.gid, err = parseNumber(u.Gid); err != nil {
		return nil, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("the groups of %s cannot be read: %w", name, err)
	}
	for _, text := range ids {
		id, err := parseNumber(text)
		if err != nil {
			return nil, err
		}
		a.groups = append(a.groups, id)
	}
	return a, nil
}

func parseNumber(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is not the number of a user or group", text)
	}
	return uint32(n), nil
}

// securePath is where commands of another user are looked for: not where moon's own user says.
const securePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// keptEnv is what of an environment says nothing but how to talk to a person.
func keptEnv(environ []string) []string {
	kept := []string{"PATH=" + securePath}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "TERM", name == "COLORTERM", name == "TZ", name == "LANG", name == "LANGUAGE", strings.HasPrefix(name, "LC_"):
			kept = append(kept, entry)
		}
	}
	return kept
}

// CleanEnv gives this process the environment of a fresh one of its user, as sudo -H does.
func CleanEnv() error {
	u, err := user.Current()
	if err != nil {
		return fmt.Errorf("cannot determine the user:  %w", err)
	}
	kept := keptEnv(os.Environ())
	os.Clearenv()
	for _, entry := range append(kept, "HOME="+u.HomeDir, "USER="+u.Username, "LOGNAME="+u.Username, "SHELL="+shellOf(u.Username)) {
		name, value, _ := strings.Cut(entry, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// shellOf is a user's shell as the system has it.
func shellOf(name string) string {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return "/bin/sh"
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) == 7 && fields[0] == name && fields[6] != "" {
			return fields[6]
		}
	}
	return "/bin/sh"
}

// copyPrefix is how directories begin that the bootstrap makes for a copy.
const copyPrefix = ".moon-"

// Unlink removes the copy of moon that this process runs from, with the directory that was made for it.
func Unlink() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(self)
	if !strings.HasPrefix(filepath.Base(dir), copyPrefix) {
		return fmt.Errorf("%s is not a copy that was made for an agent", self)
	}
	if err := os.Remove(self); err != nil {
		return err
	}
	return os.Remove(dir)
}

// The cache of moons that a machine keeps is tended by those that run from it.
const (
	keptFor     = 30 * 24 * time.Hour // after the last use
	leftoverFor = 24 * time.Hour
)

// Tend says of the program that this process runs from, which is kept for the next time, that it was used. Others beside it
// that were not for long are removed, and what copies that came to nothing have left.
func Tend() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(self)
	cache := filepath.Dir(dir)
	if filepath.Base(cache) != "moon" {
		return fmt.Errorf("%s is in no cache", self)
	}
	now := time.Now()
	// The age of the directory says when the program was last used.
	if err := os.Chtimes(dir, now, now); err != nil {
		return err
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() {
			continue
		}
		age := now.Sub(info.ModTime())
		if age > keptFor || age > leftoverFor && strings.HasPrefix(e.Name(), copyPrefix) {
			_ = os.RemoveAll(filepath.Join(cache, e.Name())) // or the next one does
		}
	}
	return nil
}

// me is the user that this process is.
var me = sync.OnceValue(func() *user.User {
	u, err := user.Current()
	if err != nil {
		return &user.User{Uid: fmt.Sprint(os.Getuid())}
	}
	return u
})
