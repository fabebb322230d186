package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"moon/exec/spec"
	"moon/exec/sshargs"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/inventory"
	"moon/plan/planner/known"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
	"moon/secret"
)

// Connector finds out how hosts are reached and who steps run as.
type Connector struct {
	plan     *plan.Plan
	o        *plan.Options // User, Home and Login
	secrets  *secret.Set
	problems *problems.Collector
	known    *known.Reader
	ask      func(program string, args ...string) ([]byte, error) // a connection plugin
	ignored  []vars.IgnoredVariable                               // of those that are set
	absent   map[*vars.Machine]*absentees                         // settings that a host has not
}

// New is the connector of a plan.
func New(p *plan.Plan, o *plan.Options, secrets *secret.Set, list *problems.Collector, values *known.Reader,
	ask func(program string, args ...string) ([]byte, error),
) *Connector {
	return &Connector{plan: p, o: o, secrets: secrets, problems: list, known: values, ask: ask, absent: map[*vars.Machine]*absentees{}}
}

// Place is a task as far as it says where it runs.
type Place struct {
	Link   Link
	Become Become
	Pos    diag.Pos
	Chain  []string
}

// Link is how hosts are reached, as written on a task or around it; the nearest of each key counts.
type Link struct{ Connection, User, Port playbook.Value }

// With is the link with what is written further inside.
func (l Link) With(connection, user, port playbook.Value) Link {
	if !connection.IsZero() {
		l.Connection = connection
	}
	if !user.IsZero() {
		l.User = user
	}
	if !port.IsZero() {
		l.Port = port
	}
	return l
}

// ConnectionTo finds out how a host is reached: nil for this machine. Variables of the host count before what the playbook says.
func (c *Connector) ConnectionTo(at Place, m *vars.Machine, e *plan.Env, r *plan.Renderer) *plan.Connection {
	// With delegate_to the variables of that host count, and not those of the host of the play.
	setting := c.settings(e.On(m))
	value := func(otherwise string, names ...string) string {
		for _, name := range names {
			v, ok := setting(name)
			if !ok {
				continue
			}
			if text, ok := c.settingText(at, r, "how "+m.Name+" is reached", name, v); ok {
				return strings.TrimSpace(text)
			}
			return otherwise
		}
		return otherwise
	}
	kind := c.o.Login.Connection
	// As with Ansible, localhost is local unless an inventory has it.
	if m.Host == nil && inventory.IsLocalhost(m.Name) {
		kind = "local"
	}
	kind = value(written(r, at.Link.Connection, kind), "ansible_connection")
	uses := []vars.UseOf{vars.AnyStep, vars.SSHStep}
	switch kind {
	case "local", "ansible.builtin.local":
		c.warnIgnored(at, e.On(m), vars.AnyStep)
		return nil
	case "paramiko", "paramiko_ssh":
		uses = append(uses, vars.Paramiko)
	case "", "ssh", "smart", "ansible.builtin.ssh":
	case "winrm", "psrp", "ansible.builtin.winrm", "ansible.builtin.psrp":
		pos, chain := placeOfKind(at, m, e, r)
		c.problems.Errorf(pos, 0, chain, windowsHint, "%s is reached by `%s`: moon does not manage Windows hosts", m.Name, kind)
		return nil
	default:
		return c.connectionOf(kind, at, m, e, r, value)
	}
	c.warnIgnored(at, e.On(m), uses...)
	conn := c.namedConnection(at, m, r, value)
	conn.Key = value(c.o.Login.PrivateKey, vars.KeyNames...)
	// Then ssh is given the name alone, for which the user's configuration may have an entry.
	if conn.Address == m.Name {
		conn.Address = ""
	}
	if conn.Key != "" {
		conn.Key = source.ResolvePath(conn.Key, c.plan.Root, c.o.Home)
	}
	args := []string{c.o.Login.SSHArgs}
	conn.Steers = c.o.Login.Steers
	for _, name := range vars.ArgsNames {
		text := value("", name)
		// What has ssh execute other programs must not do so before approval, unless the playbook is trusted.
		if option := sshargs.Steering(text); option != "" && conn.Steers == "" {
			conn.Steers = option + " in `" + name + "` of " + m.Name
		}
		args = append(args, text)
	}
	if text := value("", vars.HostKeyNames...); text != "" {
		checked, ok := spec.ParseBool(text)
		if !ok {
			c.problems.Errorf(at.Pos, 0, r.Chain, "true or false", "whether the key of %s is checked is %s", m.Name, plan.Quoted(text))
		} else if !checked {
			args = append(args, anyHostKey)
		}
	} else if c.o.Login.AnyHostKey {
		args = append(args, anyHostKey)
	}
	conn.Args = strings.Join(strings.Fields(strings.Join(args, " ")), " ")
	if port := value(written(r, at.Link.Port, digits(c.o.Login.Port)), vars.PortNames...); port != "" {
		n, ok := spec.ParseInt(port)
		if !ok || n < 1 || n > 65535 {
			c.problems.Errorf(at.Pos, 0, r.Chain, "a port is a number from 1 to 65535", "the port of %s is %s", m.Name, plan.Quoted(port))
		}
		conn.Port = n
	}
	if seconds := value(digits(c.o.Login.Timeout), vars.TimeoutNames...); seconds != "" {
		n, ok := spec.ParseInt(seconds)
		if !ok || n < 1 || n > maxConnectSeconds {
			c.problems.Errorf(at.Pos, 0, r.Chain, fmt.Sprintf("a number of seconds from 1 to %d", maxConnectSeconds),
				"the timeout for connecting to %s is %s", m.Name, plan.Quoted(seconds))
		}
		conn.Timeout = time.Duration(n) * time.Second
	}
	if program := value("", vars.ExecutableNames...); program != "" && !slices.Contains(usualSSH, program) {
		if strings.ContainsAny(program, "/~") {
			program = source.ResolvePath(program, c.plan.Root, c.o.Home)
		}
		conn.Program = program
		if conn.Steers == "" {
			conn.Steers = program + " in `" + vars.ExecutableNames[0] + "` of " + m.Name
		}
	}
	password, asked := c.askedPassword(at, m, e, r, conn)
	if !asked {
		password = value("", vars.PasswordNames...)
	}
	if password != "" {
		// Known as a secret before anything is shown that may hold it.
		c.secrets.Add("ansible_password", password)
		conn.Password = password
	}
	return conn
}

// written is what a key of the playbook says, or else something else.
func written(r *plan.Renderer, v playbook.Value, otherwise string) string {
	if v.IsZero() {
		return otherwise
	}
	return r.Text(v)
}

// namedConnection has what every connection has: where it leads to, and as whom.
func (c *Connector) namedConnection(at Place, m *vars.Machine, r *plan.Renderer, value setting) *plan.Connection {
	return &plan.Connection{
		Host:    m.Name,
		Address: value("", vars.AddressNames...),
		User:    value(written(r, at.Link.User, c.o.Login.User), vars.UserNames...),
	}
}

// setting is what a variable of a host says, or else something else.
type setting func(otherwise string, names ...string) string

// placeOfKind is where a variable says by what a host is reached, so that what is wrong with it is said once and not for each task;
// otherwise the task.
func placeOfKind(at Place, m *vars.Machine, e *plan.Env, r *plan.Renderer) (diag.Pos, []string) {
	if o, given := vars.PlaceOf(e.On(m).Frame, "ansible_connection"); given && o.File != "" {
		return diag.Pos{File: o.File, Line: o.Line, Column: o.Column}, o.Chain
	}
	return at.Pos, r.Chain
}

// connectionOf is a connection by another program than ssh.
func (c *Connector) connectionOf(kind string, at Place, m *vars.Machine, e *plan.Env, r *plan.Renderer, value setting) *plan.Connection {
	by := findRoute(kind)
	if by == nil {
		pos, chain := placeOfKind(at, m, e, r)
		conn := c.namedConnection(at, m, r, value)
		switch err := c.connectByPlugin(kind, conn, at, m, e, r, value); {
		case err == nil:
			c.warnIgnored(at, e.On(m), vars.AnyStep, vars.WayStep)
			return conn
		case !errors.Is(err, fs.ErrNotExist):
			c.problems.Errorf(pos, 0, chain, "", "the connection to %s: %s", m.Name, err)
			return nil
		}
		names := append([]string{"local", "ssh"}, routeNames()...)
		hint := cmp.Or(suggest.DidYouMean(kind, names), "moon has "+strings.Join(names, ", "))
		c.problems.Errorf(pos, 0, chain, hint, "the connection `%s` of %s is not known", kind, m.Name)
		return nil
	}
	c.warnIgnored(at, e.On(m), vars.AnyStep, vars.WayStep)
	conn := c.namedConnection(at, m, r, value)
	if err := c.connectBy(by, conn, value); err != nil {
		c.problems.Errorf(at.Pos, 0, r.Chain, "quote what has spaces", "the arguments of the connection to %s cannot be read: %s", m.Name, err)
	}
	return conn
}

// maxConnectSeconds is a day.
const maxConnectSeconds = 24 * 60 * 60

// usualSSH is what ansible_ssh_executable may be without anything being executed that would not be anyway.
var usualSSH = []string{"ssh", "/usr/bin/ssh"}

// PythonOn notes the interpreter that the variables of a host name for modules in Python; none if moon is to find one. It may be one that
// only the run knows: which files of variables are read, or what a task sets, may depend on it.
func (c *Connector) PythonOn(at Place, k *plan.Task, m *vars.Machine, e *plan.Env, r *plan.Renderer) {
	const name = vars.PythonName
	there := e.On(m)
	v, ok := c.settings(there)(name)
	if !ok {
		return
	}
	if _, open := v.(value.Unknown); !open {
		text, _ := c.settingText(at, r, "what runs modules on "+m.Name, name, v)
		k.Own().Python = vars.PythonIn(text)
		return
	}
	written := name
	if there != e { // the task is delegated: the host that does it has an interpreter of its own
		written = "hostvars[" + strconv.Quote(m.Name) + "]." + name
	}
	k.Own().PythonLate = playbook.Written(at.Pos, "{{ "+written+" | default('') }}")
	r.Text(k.PythonLate)
}

// settingText is the value of a variable that says how a host is reached or who runs what there, as text; it is not ok, and reported, if
// there is none.
func (c *Connector) settingText(at Place, r *plan.Renderer, what, name string, v any) (text string, ok bool) {
	switch v := v.(type) {
	case value.Fault:
		c.problems.Errorf(at.Pos, 0, r.Chain, v.Err.Advice(), "%s: `%s` cannot be had: %s", what, name, v.Err.Message)
		return "", false
	case value.Unknown:
		hint := "give it a value that is known before the run"
		if vars.Reaches(name) {
			hint += ", or set it with a `set_fact` on the host, before its facts are gathered, and without `when`, `loop` and `ignore_errors`"
		}
		c.problems.Errorf(at.Pos, 0, r.Chain, hint, "%s (`%s`) is known only after %s", what, name,
			c.known.DescribeSteps([]value.Missing{{Name: name, Steps: v.Steps}}))
		return "", false
	}
	return value.Text(value.Reveal(v)), true
}

// anyHostKey has ssh accept keys of hosts that are not known. What is written in other arguments counts before it.
const anyHostKey = "-o StrictHostKeyChecking=no"

// digits is a number that a setting gives; "" if it gives none.
func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
