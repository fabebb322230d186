package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret"
	"moon/secret/vault"
)

// inventoryFlags are where the hosts come from.
type inventoryFlags struct {
	Inventory []string `short:"i" sep:"none" env:"MOON_INVENTORY,ANSIBLE_INVENTORY" placeholder:"FILE" help:"Inventory: a file, a directory, a program that prints it, PLUGIN:SOURCE, or host names with a comma (web1,web2,); may be given several times."`
	Limit     string   `short:"l" placeholder:"PATTERN" help:"Only these hosts; @FILE reads them from a file."`
}

// sources are the inventories as absolute paths. If none is given they are those of ansible.cfg, which named is then.
func (f *inventoryFlags) sources(dir string) (sources []string, named string, err error) {
	if len(f.Inventory) == 0 {
		set, err := app.AnsibleConfig(dir)
		if err != nil {
			return nil, "", err
		}
		list, err := set.InventoryPaths()
		return list, set.Supplied(), err
	}
	for _, s := range f.Inventory {
		if s == "" {
			return nil, "", app.Usage("--inventory names nothing")
		}
		sources = append(sources, app.InventorySource(s, dir))
	}
	return sources, "", nil
}

type inventoryCmd struct {
	inventoryFlags
	Graph       bool   `help:"Draw the groups and their hosts as a tree."`
	List        bool   `help:"Print groups, hosts and variables as JSON, as an executable inventory does."`
	Host        string `placeholder:"NAME" help:"Print the variables of a host as JSON."`
	Vars        bool   `help:"With --graph: the variables too."`
	Trust       bool   `help:"Run the program that ansible.cfg names, this time only."`
	PlaybookDir string `placeholder:"DIR" help:"Also read group_vars and host_vars of the playbook in this directory; default: the working directory."`
	vaultFlags  `group:"passwords"`
	Pattern     string `arg:"" optional:"" help:"Hosts or a group, such as web, 'web:!web1' or 'web*'; default: all."`
}

// Help says what is read without -i.
func (inventoryCmd) Help() string {
	return `Without --graph, --list or --host, prints the names of the hosts, one per line. Variables are shown as written: templates are not
rendered, and secrets are hidden. Without -i, moon reads the inventory that ANSIBLE_INVENTORY or ansible.cfg names, and
/etc/ansible/hosts only if you name it.

  moon inventory -i hosts.ini --graph
  moon inventory -i hosts.ini --host web1`
}

func (c *inventoryCmd) Run(call *app.Invocation) error {
	if err := c.check(); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return app.Usage("the working directory cannot be read: %s", err)
	}
	sources, named, err := c.sources(dir)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return app.Usage("no inventory is given; name one with -i, or in ansible.cfg\n  hint: /etc/ansible/hosts is read with -i /etc/ansible/hosts")
	}
	playbooks := dir
	if c.PlaybookDir != "" {
		if playbooks, err = filepath.Abs(c.PlaybookDir); err != nil {
			return err
		}
	}
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	o := plan.Options{Dir: dir}
	o.Home, _ = os.UserHomeDir() // without one there is nothing in it
	if _, err := app.SearchAnsible(&o); err != nil {
		return err
	}
	if o.Plugins, err = (&pluginFlags{TrustPlugins: c.Trust}).find(call, playbooks, &o); err != nil {
		return err
	}
	files, err := inventoryFiles(call, dir, c.vaultPasswords())
	if err != nil {
		return err
	}
	ask := app.Plugins{Of: &o, Dir: playbooks, Moon: build.Version}.Asker(call)
	files.Run = func(path string, args ...string) ([]byte, error) { return ask(ctx, path, args...) }
	if b, brought := call.Brought["inventory"]; brought {
		named = b.Shown
	}
	if named != "" {
		// A file that ansible.cfg names is part of the project, which may not be trusted.
		t, err := call.Truster(c.Trust)
		if err != nil {
			return err
		}
		files.Run = app.OnlyTrusted(files.Run, t, named)
	}
	var ds diag.List
	inv := inventory.Load(sources, playbooks, files.Files, &ds)
	// A program of the inventory that was interrupted looks like a mistake of the inventory, and is not one.
	if ctx.Err() != nil {
		return app.NewExit(app.ExitInterrupted, "interrupted")
	}
	ds.Sort()
	ds.Locate(files.lines)
	if err := complain(call, ds); err != nil {
		return err
	}
	for _, h := range inv.Hosts {
		// Secrets are hidden before anything is printed, in whichever form.
		for _, l := range inv.Layers(h, playbooks) {
			for _, v := range l.Vars {
				if inventory.IsSecret(v.Name) {
					hide(call.Secrets, v.Value)
				}
			}
		}
	}
	return c.show(call, inv)
}

func (c *inventoryCmd) check() error {
	forms := 0
	for _, given := range []bool{c.Graph, c.List, c.Host != ""} {
		if given {
			forms++
		}
	}
	switch {
	case forms > 1:
		return app.Usage("--graph, --list and --host are forms of the inventory; give one of them")
	case c.Vars && !c.Graph:
		return app.Usage("--vars belongs to --graph; --list and --host have the variables")
	case c.Host != "" && (c.Pattern != "" || c.Limit != ""):
		return app.Usage("--host names the host; it cannot be given with a pattern or --limit")
	}
	return nil
}

// complain prints what is wrong with an inventory.
func complain(call *app.Invocation, ds diag.List) error {
	if len(ds) == 0 {
		return nil
	}
	if err := ds.Print(call.Err); err != nil {
		return err
	}
	fmt.Fprintln(call.Err)
	if ds.HasErrors() {
		return app.NewExit(app.ExitUsage, ds.Summary())
	}
	return nil
}

func (c *inventoryCmd) show(call *app.Invocation, inv *inventory.Inventory) error {
	if c.Host != "" {
		h := inv.Host(c.Host)
		if h == nil {
			return app.Usage("--host: there is no host `%s`%s", c.Host, nearHost(inv, c.Host))
		}
		return writeShown(call, inv.Vars(h))
	}
	hosts, err := c.hosts(call, inv)
	if err != nil {
		return err
	}
	switch {
	case c.List:
		return writeShown(call, inv.List(hosts))
	case c.Graph:
		g := inv.Group("all")
		// The pattern names a group, which is then the root of the drawing.
		if named := inv.Group(c.Pattern); named != nil {
			g = named
		}
		return inv.WriteGraph(call.Out, g, hosts, c.Vars)
	}
	for _, h := range hosts {
		if _, err := fmt.Fprintln(call.Out, h.Name); err != nil {
			return err
		}
	}
	return nil
}

// hosts are those that the pattern and the limit leave. What they name and there is not is said.
func (c *inventoryCmd) hosts(call *app.Invocation, inv *inventory.Inventory) ([]*inventory.Host, error) {
	pattern := c.Pattern
	if pattern == "" {
		pattern = "all"
	}
	hosts, err := inv.Match(pattern)
	if err = partly(call, "", hosts, err); err != nil || c.Limit == "" {
		return hosts, err
	}
	hosts, err = inv.Limit(hosts, c.Limit, os.ReadFile)
	if err = partly(call, "--limit: ", hosts, err); err == nil && len(hosts) == 0 {
		err = app.Usage("--limit: no host is left of `%s`", pattern)
	}
	return hosts, err
}

// partly makes a warning of what a pattern names and there is not, if it has matched something else.
func partly(call *app.Invocation, flag string, hosts []*inventory.Host, err error) error {
	var missing *inventory.NoMatch
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing) && len(hosts) > 0:
		fmt.Fprintf(call.Err, "moon: warning: %s%s\n", flag, missing)
		return nil
	}
	return app.Usage("%s%s", flag, err)
}

func nearHost(inv *inventory.Inventory, name string) string {
	if inv.Group(name) != nil {
		return "; it is a group"
	}
	var names []string
	for _, h := range inv.Hosts {
		names = append(names, h.Name)
	}
	if hint := suggest.DidYouMean(name, names); hint != "" {
		return "; " + hint
	}
	return ""
}

// writeShown prints JSON for people and for programs, without secrets.
func writeShown(call *app.Invocation, doc map[string]any) error {
	enc := json.NewEncoder(call.Doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(secret.Clean(call.Secrets, doc))
}

// inventoryDisk is this machine as an inventory sees it, with what was read.
type inventoryDisk struct {
	inventory.Files
	read map[string]*playbook.File // by the name that is shown
}

func (d *inventoryDisk) lines(file string) []string {
	if f := d.read[file]; f != nil {
		return f.Lines()
	}
	return nil
}

func inventoryFiles(call *app.Invocation, dir string, vaulted app.VaultPasswords) (*inventoryDisk, error) {
	passwords, err := vaulted.Passwords(call)
	if err != nil {
		return nil, err
	}
	d := &inventoryDisk{read: map[string]*playbook.File{}}
	decrypt := func(text []byte) (string, error) {
		list, err := passwords()
		if err != nil {
			return "", err
		}
		plain, err := vault.Decrypt(text, list)
		return string(plain), err
	}
	d.Shown = func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "../") && rel != ".." {
			return rel
		}
		return path
	}
	d.Read = func(path string) (*playbook.File, error) {
		text, err := readInventory(path)
		if err != nil {
			return nil, err
		}
		f := &playbook.File{Name: d.Shown(path), Path: path, Text: text, Secret: namedSecret(path)}
		if vault.Is(text) {
			plain, err := decrypt(text)
			if err != nil {
				return nil, fmt.Errorf("%w; %s", err, vaultHint)
			}
			f.Text, f.Secret = []byte(plain), true
		}
		f.Decrypt = func(text string) (plain, wrong, hint string) {
			plain, err := decrypt([]byte(text))
			if err != nil {
				return "", err.Error(), vaultHint
			}
			// What was encrypted stays hidden wherever it appears.
			call.Secrets.Add("", plain)
			return plain, "", ""
		}
		d.read[f.Name] = f
		return f, nil
	}
	d.Learn = func(f *playbook.File, v playbook.Value) {
		if f.Secret {
			// A file that is encrypted or named like one of secrets has no value that may be shown.
			hide(call.Secrets, v)
		}
	}
	d.List = func(dir string) ([]string, error) {
		entries, err := os.ReadDir(dir)
		names := make([]string, 0, len(entries))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return slices.Clip(names), err
	}
	d.Kind = func(path string) (isDir, executable bool, err error) {
		info, err := os.Stat(path)
		if err != nil {
			return false, false, err
		}
		return info.IsDir(), info.Mode().IsRegular() && info.Mode()&0o111 != 0, nil
	}
	return d, nil
}

const vaultHint = "give its password with --vault-password-file FILE or --ask-vault-pass"

// namedSecret reports whether a file is one of secrets by its name, as it is for the planner.
func namedSecret(path string) bool {
	return strings.HasSuffix(path, ".secret.yml") || strings.HasSuffix(path, ".secret.yaml")
}

// hide makes the texts of a value known as secrets.
func hide(secrets *secret.Set, v playbook.Value) {
	switch v.Kind() {
	case playbook.Map:
		for _, e := range v.Entries() {
			hide(secrets, e.Value)
		}
	case playbook.List:
		for _, item := range v.Items() {
			hide(secrets, item)
		}
	case playbook.String:
		secrets.Add("", v.Text())
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
}

// readInventory reads up to one byte more than is allowed, which then is said.
func readInventory(path string) (text []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !source.IsDescriptor(path) {
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	text, err = io.ReadAll(io.LimitReader(f, playbook.MaxFileSize+1))
	if err == nil && len(text) > playbook.MaxFileSize {
		err = fmt.Errorf("it is larger than %d MB", playbook.MaxFileSize>>20)
	}
	return text, err
}
