package saved

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/source"
	"moon/plan/vars"
)

// PlaySources are what a plan was made from that is not a file: hosts, answers, the flags of the call. Most plans of steps have none.
type PlaySources struct {
	Inventory     []string          `json:"inventory,omitempty"`
	Limit         string            `json:"limit,omitempty"`
	ForceHandlers bool              `json:"force_handlers,omitempty"`
	NoConnect     bool              `json:"no_connect,omitempty"`
	RemoteUser    string            `json:"remote_user,omitempty"`
	PrivateKey    string            `json:"private_key,omitempty"`
	Connection    string            `json:"connection,omitempty"`
	Become        bool              `json:"become,omitempty"`
	BecomeUser    string            `json:"become_user,omitempty"`
	BecomeMethod  string            `json:"become_method,omitempty"`
	SSHArgs       string            `json:"ssh_args,omitempty"`
	SSHLends      string            `json:"ssh_lends,omitempty"`
	SSHFiles      []plan.Input      `json:"ssh_files,omitempty"`
	RolesPath     []string          `json:"roles_path,omitempty"`
	ModulePath    []string          `json:"module_path,omitempty"`
	Collections   []string          `json:"collections,omitempty"`
	Core          string            `json:"core,omitempty"`
	NoFacts       bool              `json:"no_facts,omitempty"`
	Smart         bool              `json:"smart_facts,omitempty"`
	FactsApart    bool              `json:"facts_apart,omitempty"`
	FactFiles     vars.FactFiles    `json:"fact_files,omitzero"`
	AnyFatal      bool              `json:"any_fatal,omitempty"`
	Strategy      string            `json:"strategy,omitempty"`
	MergeMaps     bool              `json:"merge_maps,omitempty"`
	Timeout       int               `json:"connect_timeout,omitempty"`
	Port          int               `json:"port,omitempty"`
	AnyHostKey    bool              `json:"any_host_key,omitempty"`
	Call          map[string]any    `json:"call,omitempty"` // how moon was called, as far as a template asks
	Answers       map[string]string `json:"answers,omitempty"`
	Withheld      []plan.Prompt     `json:"withheld,omitempty"` // questions whose answers are secret, and not kept

	Hosts     map[string]map[string]any `json:"hosts,omitempty"`    // the facts that were used, of the hosts that were reached
	Stored    map[string]map[string]any `json:"stored,omitempty"`   // of all hosts those that earlier runs had kept and that were used
	Excluded  map[string]string         `json:"excluded,omitempty"` // hosts that the plan excludes, with the reason why
	Printed   []Printed                 `json:"printed,omitempty"`
	Lists     map[string][]string       `json:"lists,omitempty"` // the names in directories
	Globs     map[string][]string       `json:"globs,omitempty"`
	Present   []string                  `json:"present,omitempty"`
	Passwords []string                  `json:"passwords,omitempty"` // files that were not there, and that the run makes
}

// Printed is what a program printed: an inventory.
type Printed struct {
	SourceFile
	Args []string `json:"args"`
}

// withheld reports whether the text is not kept, as that of a file with a step that has no_log.
func (p *Printed) withheld() bool {
	return !p.Secret && p.Text == nil && p.Bytes == nil && len(p.Args) > 0
}

func playsOf(p *plan.Plan) (PlaySources, error) {
	m, o := p.Basis, &p.Basis.O
	shown := func(path string) string { return plan.ShownPath(p.Root, path) }
	s := PlaySources{
		Limit: o.Hosts.Limit, ForceHandlers: o.Mode.ForceHandlers, NoConnect: o.Hosts.NoConnect, RemoteUser: o.Login.User,
		PrivateKey: o.Login.PrivateKey,
		Connection: o.Login.Connection, Become: o.Login.Become, BecomeUser: o.Login.BecomeUser, BecomeMethod: o.Login.BecomeMethod,
		SSHArgs: o.Login.SSHArgs, SSHLends: o.Login.Steers, SSHFiles: o.Login.Steering, Excluded: o.Facts.Excluded,
		NoFacts: o.Mode.NoFacts, Smart: o.Mode.Smart, FactsApart: o.Mode.FactsApart, FactFiles: o.Mode.FactFiles,
		AnyFatal: o.Mode.AnyFatal, Strategy: o.Mode.Strategy, MergeMaps: o.Mode.MergeMaps,
		Timeout: o.Login.Timeout, Port: o.Login.Port, AnyHostKey: o.Login.AnyHostKey,
		ModulePath: paths(o.ModulePath, shown),
		Present:    paths(plan.SortedKeys(m.Disk.Present), shown),
		Passwords:  paths(plan.SortedKeys(m.Disk.Passwords), shown),
		Lists:      keysAs(m.Disk.Lists, shown), Globs: keysAs(m.Disk.Globs, shown), Call: m.Facts.CallUsed(o.Invocation()),
	}
	if p.Dialect.Rules().OverHosts { // steps have no roles, and no modules of collections
		s.RolesPath, s.Collections = paths(o.RolesPath, shown), paths(o.Collections, shown)
		if o.Core != "" {
			s.Core = shown(o.Core)
		}
	}
	// As with Ansible, @ names a file of hosts.
	if strings.HasPrefix(o.Hosts.Limit, "@") {
		s.Limit = "@" + shown(source.ResolvePath(o.Hosts.Limit[1:], o.Dir, o.Home))
	}
	for _, written := range o.Hosts.Inventory {
		if inventory.IsPath(written) {
			written = shown(source.ResolvePath(written, o.Dir, o.Home))
		}
		s.Inventory = append(s.Inventory, written)
	}
	keepAnswers(m, &s)
	for _, name := range hostsOf(m) {
		facts, hidden := m.Machines[name].UsedFacts()
		// To make the plan again its value would have to be kept, which no_log forbids.
		if hidden != "" {
			return s, &SecretError{"the variable " + hidden + " of the environment of " + name + ", which a step with no_log uses,"}
		}
		if s.Hosts == nil {
			s.Hosts = map[string]map[string]any{}
		}
		s.Hosts[name] = facts
	}
	if err := s.keepStored(m); err != nil {
		return s, err
	}
	for _, key := range plan.SortedKeys(m.Disk.Files) {
		f := m.Disk.Files[key]
		if f.Program == "" {
			continue
		}
		one := Printed{SourceFile{Path: shown(f.Program), Digest: f.Digest}, f.Args}
		switch {
		case f.Secret:
			one.Secret, one.Digest = true, ""
		case ofPrivate(m.Disk, p.Root, f):
		case utf8.Valid(f.Text):
			text := string(f.Text)
			one.Text = &text
		default:
			one.Bytes = f.Text
		}
		s.Printed = append(s.Printed, one)
	}
	return s, nil
}

// ofPrivate reports whether a plugin has read a file whose text is not kept.
func ofPrivate(d *source.Disk, root string, printed *source.FileSeen) bool {
	kind, _, ok := spec.PluginOf(printed.Program)
	if !ok || kind != parsing {
		return false
	}
	f := d.Files[abs(root, printed.Args[0])]
	return f != nil && f.Private
}

// keepAnswers adds what was typed, without what is secret.
func keepAnswers(m *plan.Basis, s *PlaySources) {
	for _, q := range m.Prompts {
		answer := m.O.Values.Answers[q.Name]
		if q.Private || m.Secrets.Has(answer) {
			q.Default = "" // it may be as secret as the answer
			if !slices.ContainsFunc(s.Withheld, func(have plan.Prompt) bool { return have.Name == q.Name }) {
				s.Withheld = append(s.Withheld, q)
			}
			continue
		}
		if s.Answers == nil {
			s.Answers = map[string]string{}
		}
		s.Answers[q.Name] = answer
	}
}

func paths(list []string, shown func(string) string) []string {
	var all []string
	for _, path := range list {
		all = append(all, shown(path))
	}
	return all
}

func keysAs(m map[string][]string, name func(string) string) map[string][]string {
	if len(m) == 0 {
		return nil
	}
	all := make(map[string][]string, len(m))
	for key, list := range m {
		all[name(key)] = list
	}
	return all
}

// options are those with which the plan was made.
func (s *PlaySources) options(abs func(string) string, o *plan.Options) {
	o.Hosts.Inventory = nil
	for _, written := range s.Inventory {
		o.Hosts.Inventory = append(o.Hosts.Inventory, inventory.Resolve(written, abs, exists))
	}
	o.Hosts.Limit, o.Mode.ForceHandlers, o.Hosts.NoConnect = o.Moved.HereOf("@", s.Limit), s.ForceHandlers, s.NoConnect
	o.Facts.Excluded = s.Excluded
	o.Login.User, o.Login.PrivateKey, o.Login.Connection = s.RemoteUser, s.PrivateKey, s.Connection
	o.Login.Become, o.Login.BecomeUser, o.Login.BecomeMethod, o.Login.SSHArgs = s.Become, s.BecomeUser, s.BecomeMethod, s.SSHArgs
	o.Login.Steers, o.Login.Steering = s.SSHLends, s.SSHFiles
	o.RolesPath, o.ModulePath = paths(s.RolesPath, abs), paths(s.ModulePath, abs)
	o.Mode.NoFacts, o.Mode.AnyFatal, o.Mode.Strategy, o.Mode.MergeMaps = s.NoFacts, s.AnyFatal, s.Strategy, s.MergeMaps
	o.Mode.Smart, o.Mode.FactsApart, o.Mode.FactFiles = s.Smart, s.FactsApart, s.FactFiles
	o.Login.Timeout, o.Login.Port, o.Login.AnyHostKey = s.Timeout, s.Port, s.AnyHostKey
	o.Collections, o.Core = paths(s.Collections, abs), ""
	if s.Core != "" {
		o.Core = abs(s.Core)
	}
	// Kept only if a template has asked how moon was called; otherwise the flags of this call count.
	if v, ok := s.Call["ansible_check_mode"].(bool); ok {
		o.Mode.Check = v
	}
	if v, ok := s.Call["ansible_diff_mode"].(bool); ok {
		o.Mode.Diff = v
	}
	if v, asked := s.Call["ansible_config_file"]; asked {
		file, _ := v.(string)
		o.Mode.ConfigFile = o.Moved.Here(file)
	}
	if v, ok := WholeNumbers(s.Call["ansible_forks"]).(int); ok {
		o.Mode.Forks = v
	}
	answers := maps.Clone(s.Answers)
	if answers == nil {
		answers = map[string]string{}
	}
	// What is given now counts before what was typed then.
	maps.Copy(answers, o.Values.Answers)
	o.Values.Answers = answers
	o.Facts.Hosts = map[string]map[string]any{}
	for host, facts := range s.Hosts {
		o.Facts.Hosts[host], _ = WholeNumbers(facts).(map[string]any)
	}
	o.Facts.Stored = s.stored()
}

// WithheldError says that a plan was made with answers that are kept nowhere, and that nobody has given them again.
type WithheldError struct{ Names []string }

func (e *WithheldError) Error() string {
	return "it was made with secret answers, which are not kept, and there is no terminal to ask for them again: " +
		strings.Join(e.Names, ", ")
}

// answered are the answers the plan was made with. What is secret is asked for again; where nobody can be asked because the plan is
// only to be shown, something stands for it.
func (s *PlaySources) answered(o plan.Options) (map[string]string, error) {
	answers := maps.Clone(s.Answers)
	if answers == nil {
		answers = map[string]string{}
	}
	var open []plan.Prompt
	for _, q := range s.Withheld {
		given, ok := o.Values.Answers[q.Name]
		switch {
		case ok:
			answers[q.Name] = given
		case o.Outside.Ask == nil:
			answers[q.Name] = withheldValue
		default:
			open = append(open, q)
		}
	}
	if len(open) == 0 {
		return answers, nil
	}
	got, err := o.Outside.Ask(open)
	if err != nil {
		names := make([]string, len(open))
		for i, q := range open {
			names[i] = q.Name
		}
		return nil, &WithheldError{names}
	}
	maps.Copy(answers, got)
	return answers, nil
}

// remembered fills a disk with what plays have seen of it.
func (s *PlaySources) remembered(d *source.Disk, abs func(string) string, o plan.Options) error {
	for path, names := range s.Lists {
		d.Lists[abs(path)] = names
	}
	for pattern, names := range s.Globs {
		d.Globs[abs(pattern)] = names
	}
	for _, path := range s.Present {
		d.Present[abs(path)] = true
	}
	for _, path := range s.Passwords {
		d.Passwords[abs(path)] = true
	}
	for _, one := range s.Printed {
		seen := &source.FileSeen{Text: one.Bytes, Digest: one.Digest, Program: abs(one.Path), Args: one.Args}
		switch {
		case one.Secret:
			text, err := printed(o, seen)
			if err != nil {
				return fmt.Errorf("what %s prints holds secrets, is not kept, and cannot be had again: %w", one.Path, err)
			}
			seen.Text, seen.Secret = text, true
		case one.withheld():
			text, err := printed(o, seen)
			if err != nil {
				return fmt.Errorf("what %s said of %s is not kept, and cannot be had again: %w", one.Path, one.Args[0], err)
			}
			seen.Text = text
		case one.Text != nil:
			seen.Text = []byte(*one.Text)
		}
		if !one.Secret && source.DigestOf(seen.Text) != one.Digest {
			return fmt.Errorf("the text of %s is not what was read", one.Path)
		}
		d.Files[seen.Program+" "+strings.Join(one.Args, " ")] = seen
	}
	return nil
}

func printed(o plan.Options, of *source.FileSeen) ([]byte, error) {
	if o.Outside.RunInventory == nil {
		return nil, errors.New("programs are not started here")
	}
	return o.Outside.RunInventory(of.Program, of.Args...)
}

// askNoMore lets the programs of an inventory say what they said when the plan was made: the run has asked them again since, and what they
// said then is an input of its own. A program whose output is not kept is asked.
func (s *PlaySources) askNoMore(abs func(string) string, o *plan.Options) {
	ask := o.Outside.RunInventory
	o.Outside.RunInventory = func(path string, args ...string) ([]byte, error) {
		for _, one := range s.Printed {
			if abs(one.Path) != path || !slices.Equal(one.Args, args) || one.Secret || one.withheld() {
				continue
			}
			if one.Text != nil {
				return []byte(*one.Text), nil
			}
			return one.Bytes, nil
		}
		if ask == nil {
			return nil, errors.New("programs are not started here")
		}
		return ask(path, args...)
	}
}

func abs(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// stale says what is not as it was.
func (s *PlaySources) stale(abs func(string) string, o plan.Options, say func(string, ...any)) {
	for _, path := range plan.SortedKeys(s.Lists) {
		if names, err := source.NewDisk(nil).List(abs(path)); err != nil || !slices.Equal(names, s.Lists[path]) {
			say("what is in %s is not the same", path)
		}
	}
	for _, pattern := range plan.SortedKeys(s.Globs) {
		dir, base := filepath.Split(abs(pattern))
		if !slices.Equal(source.Globbed(dir, base), s.Globs[pattern]) {
			say("other files match %s", pattern)
		}
	}
	for _, path := range s.Present {
		if _, err := os.Stat(abs(path)); errors.Is(err, fs.ErrNotExist) {
			say("%s is gone", path)
		}
	}
	for _, one := range s.Printed {
		// A program has nothing to compare but what it prints.
		text, err := printed(o, &source.FileSeen{Program: abs(one.Path), Args: one.Args})
		switch {
		case err != nil:
			say("%s cannot be asked: %s", one.Path, err)
		case !one.Secret && source.DigestOf(text) != one.Digest:
			say("%s prints something else", one.Path)
		}
	}
	s.staleStored(o, say)
	call := o.Invocation()
	for _, name := range plan.SortedKeys(s.Call) {
		if was, is := WholeNumbers(s.Call[name]), call.Called(name); was != is {
			say("`%s` was %v, and is %v", name, was, is)
		}
	}
}

// hostsOf are the names of the hosts whose facts are known.
func hostsOf(m *plan.Basis) []string {
	var list []string
	for name, host := range m.Machines {
		if host.State == vars.FactsKnown {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
