package editing

import (
	"context"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"

	"moon/exec/facts"
	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/lsp"
	"moon/plan"
	"moon/secret"
	"moon/secret/vault"
)

// Server is the command.
type Server struct {
	Inventory []string `group:"hosts" short:"i" sep:"none" env:"MOON_INVENTORY,ANSIBLE_INVENTORY" placeholder:"FILE" help:"Inventory for playbooks of plays: a file, a directory, or host names with a comma; programs are not run."`
	ExtraVars []string `group:"variables" short:"e" sep:"none" placeholder:"K=V" help:"Variables: name=value, a JSON object, or @file."`
	VarsFile  []string `group:"variables" sep:"none" placeholder:"FILE" help:"File of variables; may be given several times."`
	Vault     []string `group:"passwords" name:"vault-password-file" sep:"none" env:"MOON_VAULT_PASSWORD_FILE,ANSIBLE_VAULT_PASSWORD_FILE" placeholder:"[ID@]FILE" help:"Vault password file; programs are not run."`
	Stdio     bool     `hidden:"" env:"-"` // what clients add, and what there is anyway
}

// Help says how an editor starts it.
func (Server) Help() string {
	return `Serves an editor over standard input and output: errors while typing, completion, definitions, values from the plan. It runs no programs and
asks no hosts. docs/editors.md has what editors need.

  moon lsp
  moon lsp -i inventory.ini`
}

// Run serves until the client ends it.
func (c *Server) Run(call *app.Invocation) error {
	p, err := c.newPlanning(call)
	if err != nil {
		return err
	}
	err = lsp.Serve(context.Background(), call.In, call.Doc, call.Err, lsp.Options{Plan: p.options, Version: build.Version})
	if err != nil {
		return app.NewExit(app.ExitFailed, "moon lsp: "+err.Error())
	}
	return nil
}

// planning says how playbooks are planned.
type planning struct {
	c    Server
	call *app.Invocation
	dir  string // where the call was made
	home string
	user string
	here func() plan.KnownFacts
}

func (c *Server) newPlanning(call *app.Invocation) (*planning, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, app.Usage("the working directory cannot be read: %s", err)
	}
	p := &planning{c: *c, call: call, dir: dir, here: sync.OnceValue(knownFacts)}
	p.home, _ = os.UserHomeDir() // without one, ~ stays as it is
	if u, err := user.Current(); err == nil {
		p.user = u.Username
	}
	// The playbook may lie elsewhere than the call was made.
	for i, text := range c.ExtraVars {
		if name, ok := strings.CutPrefix(text, "@"); ok && !filepath.IsAbs(name) {
			p.c.ExtraVars[i] = "@" + filepath.Join(dir, name)
		}
	}
	for i, name := range c.VarsFile {
		if !filepath.IsAbs(name) {
			p.c.VarsFile[i] = filepath.Join(dir, name)
		}
	}
	return p, nil
}

// knownFacts are those that are known without starting a program. The others have no value yet, as those that change.
func knownFacts() plan.KnownFacts {
	return plan.KnownFacts{Here: facts.Local(), Volatile: func() map[string]any {
		values := maps.Clone(facts.Volatile())
		for name := range facts.Costly() {
			values[name] = ""
		}
		return values
	}}
}

// options are those of a playbook. Nothing of them starts a program or asks a host; nothing is trusted.
func (p *planning) options(path string) (plan.Options, error) {
	o := plan.Options{
		Path: path, Given: path, Dir: p.workingDir(path), Home: p.home, User: p.user, Presets: presetsDir(p.home), Facts: p.here(),
		Secrets: secret.NewSet(), Hosts: plan.HostSelection{NoConnect: true, NoProbe: true},
		Values: plan.Values{Extra: p.c.ExtraVars, Files: p.c.VarsFile},
	}
	o.Mode.Forks = 8
	set, err := app.SearchAnsible(&o)
	if err != nil {
		return o, err
	}
	if err := set.Apply(&o); err != nil {
		return o, err
	}
	sources := p.c.Inventory
	from := p.dir
	if len(sources) == 0 {
		sources, from = set.Inventory, o.Dir
	}
	for _, source := range sources {
		if source = app.InventorySource(source, from); source != "" && !isProgram(source) {
			o.Hosts.Inventory = append(o.Hosts.Inventory, source)
		}
	}
	if o.Outside.Vault, err = p.passwords(set, o.Dir); err != nil {
		return o, err
	}
	// Every question gets the empty answer, which is its default.
	o.Outside.Ask = func(list []plan.Prompt) (map[string]string, error) {
		answers := map[string]string{}
		for _, one := range list {
			answers[one.Name] = ""
		}
		return answers, nil
	}
	dir := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	o.Plugins = findPlugins(dir, &o)
	return o, nil
}

// workingDir is where the playbook would be run: the nearest directory above it with an ansible.cfg, or else its own.
func (p *planning) workingDir(path string) string {
	own := filepath.Dir(path)
	for dir := own; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "ansible.cfg")); err == nil && info.Mode().IsRegular() {
			return dir
		}
		if dir == filepath.Dir(dir) || dir == p.home {
			return own
		}
	}
}

// passwords are those of what is encrypted, as far as they are in files.
func (p *planning) passwords(set app.AnsibleSettings, dir string) (func() ([]vault.Password, error), error) {
	files, from := p.c.Vault, p.dir
	if len(files) == 0 {
		// Programs are excluded below, also those that may run.
		files, _ = set.VaultPasswords(func(string, string) error { return nil })
		from = dir
	}
	var plain []string
	for _, one := range files {
		id, file, named := strings.Cut(one, "@")
		if !named {
			id, file = "", one
		} else {
			id += "@"
		}
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			file = filepath.Join(p.home, rest)
		} else if !filepath.IsAbs(file) {
			file = filepath.Join(from, file)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !isProgram(file) {
			plain = append(plain, id+file)
		}
	}
	if len(plain) == 0 {
		return nil, nil // what is encrypted is said to be so
	}
	return app.VaultPasswords{Files: plain}.Passwords(p.call)
}

// isProgram reports whether an inventory would have to be run.
func isProgram(source string) bool {
	info, err := os.Stat(source)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// presetsDir is where the user keeps presets.
func presetsDir(home string) string {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		if home == "" {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "moon", "presets")
}
