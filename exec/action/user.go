package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("user", exec.Action{Plan: planUser})

// userStep is one user step being planned.
type userStep struct {
	*exec.Attempt
	args *spec.UserArgs
	all  *accounts
	is   *account // nil: there is none
	c    *exec.Change

	group  *userGroup   // what the step names; nil: nothing
	groups []*userGroup // what it names besides, by name; nil: leave them
}

func planUser(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.UserArgs)
	c, err := accountChange(ctx, args.Name, args.State)
	if err != nil {
		return nil, err
	}
	s := &userStep{Attempt: a, args: args, c: c}
	if err := s.planChange(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (s *userStep) planChange(ctx context.Context) (err error) {
	if s.all, err = readAccounts(ctx, s.Attempt, s.args.Local); err != nil {
		return err
	}
	s.is = s.all.findUser(s.args.Name)
	s.echoArgs()
	if s.args.State == fsys.Absent {
		return s.planRemoval()
	}
	if err := s.findGroups(); err != nil {
		return err
	}
	if uid := s.args.UID; uid != nil && !s.args.NonUnique && (s.is == nil || s.is.uid != *uid) {
		if i := slices.IndexFunc(s.all.users, func(u account) bool { return u.uid == *uid }); i >= 0 {
			return fault.Missing("", "uid %d is taken by user %s; non_unique: true lets both have it", *uid, s.all.users[i].name)
		}
	}
	if s.args.Groups != nil {
		s.c.Fields["groups"] = strings.Join(s.args.Groups, ",")
	}
	if s.is == nil {
		return s.planCreation()
	}
	return s.planUpdate()
}

// echoArgs says again what the task has asked for, as its result does.
func (s *userStep) echoArgs() {
	args := s.args
	switch {
	case args.State == fsys.Absent && s.is != nil:
		s.c.Fields["remove"], s.c.Fields["force"] = args.Remove, args.Force
	// There is nothing to remove, and Ansible's result says nothing more.
	case args.State == fsys.Absent:
	case s.is == nil:
		s.c.Fields["create_home"], s.c.Fields["system"] = args.CreateHome, args.System
	default:
		s.c.Fields["append"], s.c.Fields["move_home"] = args.Append, args.MoveHome
	}
	if args.Password != nil && args.State != fsys.Absent {
		s.c.Fields["password"] = "NOT_LOGGING_PASSWORD"
	}
}

// findGroups looks up the groups that the step names.
func (s *userStep) findGroups() (err error) {
	if s.args.Group != "" {
		if s.group, err = s.all.mustGroup(s.args.Group); err != nil {
			return err
		}
	}
	if s.args.Groups == nil {
		return nil
	}
	s.groups = []*userGroup{}
	for _, name := range s.args.Groups {
		g, err := s.all.mustGroup(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(s.groups, func(other *userGroup) bool { return other.name == g.name }) {
			s.groups = append(s.groups, g)
		}
	}
	// Sorted, so that the order in the playbook is not a change.
	slices.SortFunc(s.groups, func(a, b *userGroup) int { return strings.Compare(a.name, b.name) })
	return nil
}

// otherGroups are the names of the groups that the user shall be in besides its own.
func (s *userStep) otherGroups(own int) []string {
	names := []string{}
	for _, g := range s.groups {
		if g.gid != own {
			names = append(names, g.name)
		}
	}
	return names
}

// planCreation makes a user. Its password follows through the standard input of another program: arguments can be read by all.
func (s *userStep) planCreation() error {
	if err := lacksTool(s.Attempt, "useradd", shadowPackages); err != nil {
		return err
	}
	argv, words := []string{"useradd"}, []string{"new user"}
	option := func(word string, options ...string) {
		argv = append(argv, options...)
		if word != "" {
			words = append(words, word)
		}
	}
	args := s.args
	if args.UID != nil {
		option(fmt.Sprintf("uid %d", *args.UID), "-u", strconv.Itoa(*args.UID))
	}
	if args.NonUnique {
		option("", "-o")
	}
	own := s.group
	if own == nil {
		own, _ = s.all.mustGroup(args.Name) // if there is one, useradd would refuse to make another
	}
	gid := -1
	if own != nil {
		gid = own.gid
		option("group "+own.name, "-g", own.name)
	}
	if groups := s.otherGroups(gid); len(groups) > 0 {
		option("groups "+strings.Join(groups, ", "), "-G", strings.Join(groups, ","))
	}
	if args.Comment != nil {
		option("", "-c", *args.Comment)
	}
	if args.Home != "" {
		option("home "+args.Home, "-d", args.Home)
	}
	if args.Shell != "" {
		option("shell "+args.Shell, "-s", args.Shell)
	}
	if args.Expires != nil && *args.Expires >= 0 {
		option("expires "+dateOf(*args.Expires), "-e", dateOf(*args.Expires))
	}
	if args.System {
		option("", "-r")
	}
	option("", limitOptions("UID_MIN", args.UIDMin, "UID_MAX", args.UIDMax)...)
	option("", s.homeOptions()...)
	tools := []exec.Tool{exec.NewTool(append(argv, args.Name)...)}
	// "!" is what useradd sets by itself: no password fits.
	if password := s.wantedPassword(secrets{password: "!"}); password != "!" {
		tools = append(tools, s.setPassword(password))
		words = append(words, passwordWords("!", password))
	}
	ages, ageWords := s.planAges(secrets{min: -1, max: -1, warn: -1, disable: -1})
	tools, words = append(tools, ages...), append(words, ageWords...)
	key, err := s.planKey(args.Home)
	if err != nil {
		return err
	}
	words = append(words, key.describeChange()...)
	s.c.PlanCreation("user", args.Name, removeAccount(s.Attempt, "user", args.Name, args.Local), s.applyTools(tools, key, nil), words...)
	s.c.AddPrediction(func(f *fsys.Overlay) { s.predictUser(f, own) })
	return nil
}

// predictUser tells the later steps of a dry run of a new user.
func (s *userStep) predictUser(f *fsys.Overlay, own *userGroup) {
	f.Name("user", s.args.Name)
	// useradd makes a group of the same name if login.defs says so.
	if own == nil && loginDefs()["USERGROUPS_ENAB"] == "yes" {
		f.Name("group", s.args.Name)
		own = &userGroup{name: s.args.Name}
		own.gid, _ = f.ID("group", s.args.Name)
	}
	if own == nil || !s.args.CreateHome {
		return
	}
	home := s.args.Home
	if home == "" {
		// useradd's default may be another; a dry run does not ask it.
		home = "/home/" + s.args.Name
	}
	uid, _ := f.ID("user", s.args.Name)
	f.Mkdir(home, fsys.Wanted{Mode: s.homeMode(), UID: uid, GID: own.gid}, fsys.Wanted{Mode: 0o755, UID: 0, GID: 0})
}

// homeOptions are useradd's for the home directory.
func (s *userStep) homeOptions() []string {
	if !s.args.CreateHome {
		return []string{"-M"}
	}
	options := []string{"-m"}
	if s.args.Skeleton != "" {
		options = append(options, "-k", s.args.Skeleton)
	}
	if !s.args.Umask.IsZero() {
		mask := s.args.Umask.Apply(0, false, 0)
		options = append(options, "-K", fmt.Sprintf("UMASK=%04o", mask))
		if loginDefs()["HOME_MODE"] != "" { // which useradd would take instead
			options = append(options, "-K", fmt.Sprintf("HOME_MODE=%04o", 0o777&^mask))
		}
	}
	return options
}

func dateOf(seconds int) string { return time.Unix(int64(seconds), 0).UTC().Format(time.DateOnly) }

// wantedPassword is the field of /etc/shadow as it shall be.
func (s *userStep) wantedPassword(is secrets) string {
	want := is.password
	if s.args.Password != nil && (s.is == nil || s.args.UpdatePassword == "always") {
		want = *s.args.Password
		if s.args.PasswordLock == nil && s.is != nil && strings.TrimLeft(want, "!") == strings.TrimLeft(is.password, "!") {
			return is.password // it is locked, which nobody asked to change
		}
	}
	if s.args.PasswordLock == nil {
		return want
	}
	bare := strings.TrimLeft(want, "!")
	switch {
	case *s.args.PasswordLock && !strings.HasPrefix(want, "!"):
		return "!" + want
	// An empty field in /etc/shadow lets the user in without a password.
	case !*s.args.PasswordLock && bare != "": // without its !, an empty one would let everybody in
		return bare
	}
	return want
}

func passwordWords(is, want string) string {
	locked := func(field string) bool { return strings.HasPrefix(field, "!") }
	switch {
	case strings.TrimLeft(is, "!") != strings.TrimLeft(want, "!"):
		return "password"
	case locked(want) && !locked(is):
		return "password locked"
	case locked(is) && !locked(want):
		return "password unlocked"
	}
	return "password"
}

func (s *userStep) setPassword(field string) exec.Tool {
	line := s.args.Name + ":" + field + "\n"
	return exec.Tool{Argv: []string{"chpasswd", "-e"}, Stdin: &line}
}

// planAges returns what concerns the age of the password.
func (s *userStep) planAges(is secrets) (tools []exec.Tool, words []string) {
	argv := []string{"chage"}
	for _, age := range []struct {
		option, word string
		want         *int
		is           int
	}{
		{"-m", "password is kept", s.args.ExpireMin, is.min},
		{"-M", "password lasts", s.args.ExpireMax, is.max},
		{"-W", "warning before it ends", s.args.ExpireWarn, is.warn},
		{"-I", "closed after it ended", s.args.ExpireDisable, is.disable},
	} {
		if age.want == nil || *age.want == age.is {
			continue
		}
		// One call for all limits: each rewrites /etc/shadow.
		argv = append(argv, age.option, strconv.Itoa(*age.want))
		words = append(words, fmt.Sprintf("%s %d days", age.word, *age.want))
	}
	if len(words) == 0 {
		return nil, nil
	}
	return []exec.Tool{exec.NewTool(append(argv, s.args.Name)...)}, words
}

// planUpdate changes what is not as the step wants it.
func (s *userStep) planUpdate() error {
	s.describeResult(s.is)
	argv, words := s.listDifferences()
	is := secrets{min: -1, max: -1, warn: -1, disable: -1, until: -1}
	if s.needsSecrets() {
		var err error
		if is, err = readSecrets(s.args.Name); err != nil {
			return err
		}
	}
	// The date is in the same file as the password, which only root may read.
	if more, word := s.compareExpiry(is); word != "" {
		argv, words = append(argv, more...), append(words, word)
	}
	var tools []exec.Tool
	if len(argv) > 0 {
		if err := lacksTool(s.Attempt, "usermod", shadowPackages); err != nil {
			return err
		}
		tools = append(tools, exec.NewTool(append(append([]string{"usermod"}, argv...), s.args.Name)...))
	}
	if want := s.wantedPassword(is); want != is.password {
		tools = append(tools, s.setPassword(want))
		words = append(words, passwordWords(is.password, want))
		// With nothing behind the lock, unlocking would open the account to everyone.
	} else if s.args.PasswordLock != nil && !*s.args.PasswordLock && strings.Trim(want, "!") == "" {
		return fmt.Errorf("user %s has no password to unlock; give one as `password`", s.args.Name)
	}
	ages, ageWords := s.planAges(is)
	tools, words = append(tools, ages...), append(words, ageWords...)

	home := s.is.home
	if s.args.Home != "" {
		home = s.args.Home
	}
	var newHome *homeDir
	moved := s.args.MoveHome && home != s.is.home
	// A home that moves is made by usermod, with what was in the old one.
	if s.args.CreateHome && !moved && !isHomeless(home) {
		if _, err := os.Stat(home); errors.Is(err, os.ErrNotExist) {
			newHome = &homeDir{path: home, skeleton: s.args.Skeleton, mode: s.homeMode()}
			words = append(words, "new home directory "+home)
		}
	}
	key, err := s.planKey(home)
	if err != nil {
		return err
	}
	words = append(words, key.describeChange()...)
	if len(words) > 0 {
		s.c.PlanFor(events.ChangeUpdate, "user", s.args.Name, s.applyTools(tools, key, newHome), words...)
	}
	return nil
}

func (s *userStep) needsSecrets() bool {
	a := s.args
	for _, n := range []*int{a.Expires, a.ExpireMin, a.ExpireMax, a.ExpireWarn, a.ExpireDisable} {
		if n != nil {
			return true
		}
	}
	return a.Password != nil && a.UpdatePassword == "always" || a.PasswordLock != nil
}

// listDifferences returns usermod's options, and what they change in words.
func (s *userStep) listDifferences() (argv, words []string) {
	differs := func(word string, is, want any, options ...string) {
		words = append(words, fmt.Sprintf("%s %v → %v", word, is, want))
		argv = append(argv, options...)
	}
	args, is := s.args, s.is
	if args.UID != nil && *args.UID != is.uid {
		differs("uid", is.uid, *args.UID, "-u", strconv.Itoa(*args.UID))
		// usermod refuses a number that another user has, unless it is to be shared.
		if args.NonUnique {
			argv = append(argv, "-o")
		}
	}
	if s.group != nil && s.group.gid != is.gid {
		differs("group", s.all.groupName(is.gid), s.group.name, "-g", s.group.name)
	}
	if more, word := s.groupDifference(); word != "" {
		argv, words = append(argv, more...), append(words, word)
	}
	if args.Comment != nil && *args.Comment != is.comment {
		differs("comment", quoteText(is.comment), quoteText(*args.Comment), "-c", *args.Comment)
	}
	if args.Home != "" && args.Home != is.home {
		if args.MoveHome {
			// usermod does not move the directory to one that exists.
			differs("home", is.home, args.Home+" with what is in it", "-d", args.Home, "-m")
		} else {
			differs("home", is.home, args.Home, "-d", args.Home)
		}
	}
	if args.Shell != "" && args.Shell != is.shell {
		differs("shell", is.shell, args.Shell, "-s", args.Shell)
	}
	return argv, words
}

func quoteText(text string) string { return strconv.Quote(text) }

// groupDifference compares the groups a user is in with those it shall be in. Its own group is never among them.
func (s *userStep) groupDifference() (argv []string, word string) {
	if s.groups == nil {
		return nil, ""
	}
	own := s.is.gid
	if s.group != nil {
		own = s.group.gid
	}
	want := s.otherGroups(own)
	is := s.all.listMemberships(s.is)
	slices.Sort(is)
	var added, gone []string
	for _, g := range want {
		if !slices.Contains(is, g) {
			added = append(added, "+"+g)
		}
	}
	for _, g := range is {
		if !slices.Contains(want, g) && !s.args.Append {
			gone = append(gone, "−"+g)
		}
	}
	if len(added)+len(gone) == 0 {
		return nil, ""
	}
	word = "groups " + strings.Join(append(added, gone...), " ")
	if s.args.Append {
		return []string{"-a", "-G", strings.Join(want, ",")}, word
	}
	return []string{"-G", strings.Join(want, ",")}, word
}

// compareExpiry compares the day on which the account ends.
func (s *userStep) compareExpiry(is secrets) (argv []string, word string) {
	if s.args.Expires == nil {
		return nil, ""
	}
	const day = 24 * 60 * 60
	// shadow counts days since 1970.
	switch want := *s.args.Expires; {
	case want < 0 && is.until >= 0:
		return []string{"-e", ""}, "never expires"
	case want >= 0 && want/day != is.until:
		return []string{"-e", dateOf(want)}, "expires " + dateOf(want)
	}
	return nil, ""
}

// applyTools runs the programs and makes what they do not, and then looks at what became of the user.
func (s *userStep) applyTools(tools []exec.Tool, key *newKey, home *homeDir) func(context.Context) error {
	return func(ctx context.Context) error {
		record := s.watchFiles(key, home)
		if err := changeAccounts(ctx, s.Attempt, tools...); err != nil {
			return err
		}
		all, err := readAccounts(ctx, s.Attempt, s.args.Local)
		if err != nil {
			return err
		}
		u := all.findUser(s.args.Name)
		if u == nil {
			return fmt.Errorf("user %s was made, but the system does not know it", s.args.Name)
		}
		s.describeResult(u)
		// A home is made after the user: its owner's number is known only now.
		if home != nil {
			if err := home.makeHome(u); err != nil {
				return err
			}
		}
		err = key.makeKey(u, s.c.Fields)
		record()
		// useradd makes a group of the same name, and userdel removes it, if their configuration says so.
		if isNamed(all, s.args.Name) && !isNamed(s.all, s.args.Name) {
			s.c.Resources = append([]events.Resource{{
				Type: "group", Name: s.args.Name, Change: events.ChangeCreate, Undo: removeAccount(s.Attempt, "group", s.args.Name, s.args.Local),
			}}, s.c.Resources...)
		}
		return err
	}
}

func isNamed(all *accounts, group string) bool {
	g := all.findGroup(group)
	return g != nil && g.name == group
}

// watchFiles is for the files that come with a user: the home as one thing, the mail spool, and a key outside of a new home.
func (s *userStep) watchFiles(key *newKey, made *homeDir) (record func()) {
	home, whole, files := s.args.Home, []string{}, []string{}
	switch {
	case s.is != nil && home == "":
		home = s.is.home
	case home == "":
		home = filepath.Join(defaultHomes(), s.args.Name)
	}
	fresh := !isPresent(home)
	if fresh && (s.is == nil && s.args.CreateHome || made != nil) {
		whole = append(whole, home)
	}
	if s.is == nil {
		for _, dir := range []string{loginDefs()["MAIL_DIR"], "/var/mail", "/var/spool/mail"} {
			if dir != "" && isPresent(dir) {
				files = append(files, filepath.Join(dir, s.args.Name))
				break
			}
		}
	}
	if key != nil && !key.there {
		path := key.file
		if !filepath.IsAbs(path) {
			path = filepath.Join(home, path)
		}
		if !fresh || !strings.HasPrefix(path, home+"/") {
			files = append(files, path, path+".pub")
		}
	}
	recordHome, recordFiles := s.c.Watch(true, whole...), s.c.Watch(false, files...)
	return func() {
		recordFiles()
		recordHome()
	}
}

func (s *userStep) describeResult(u *account) {
	maps.Copy(s.c.Fields, map[string]any{"uid": u.uid, "group": u.gid, "comment": u.comment, "home": u.home, "shell": u.shell})
}

// planRemoval removes the user.
func (s *userStep) planRemoval() error {
	if s.is == nil {
		return nil
	}
	if err := lacksTool(s.Attempt, "userdel", shadowPackages); err != nil {
		return err
	}
	argv, words := []string{"userdel"}, "user "+s.args.Name
	if s.args.Force {
		argv = append(argv, "-f")
	}
	if s.args.Remove {
		argv = append(argv, "-r")
		words += " with " + s.is.home
	}
	argv = append(argv, s.args.Name)
	s.c.PlanFor(events.ChangeDelete, "user", s.args.Name, func(ctx context.Context) error {
		err := changeAccounts(ctx, s.Attempt, exec.NewTool(argv...))
		// userdel ends with its own code if only the home could not be removed.
		if e, ok := errors.AsType[fault.CommandError](err); ok && e.RC != nil && *e.RC == homeNotRemoved {
			if _, there := os.Stat(s.is.home); errors.Is(there, os.ErrNotExist) {
				return nil // there was no home to remove
			}
		}
		return err
	}, words)
	return nil
}

// homeNotRemoved is userdel's exit status when the user is gone and its home is not.
const homeNotRemoved = 12
