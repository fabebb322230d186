package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

func (l link) with(connection, user, port playbook.Value) link {
	if !connection.IsZero() {
		l.connection = connection
	}
	if !user.IsZero() {
		l.user = user
	}
	if !port.IsZero() {
		l.port = port
	}
	return l
}

// connectionTo finds out how a host is reached: nil for this machine. Variables of the host count before what the playbook says.
func (p *fleet) connectionTo(c *taskContext, m *plannedHost, e *plan.Env, r *plan.Renderer) *plan.Connection {
	setting := p.settings(e.On(m.Machine))
	value := func(otherwise string, names ...string) string {
		for _, name := range names {
			v, ok := setting(name)
			if !ok {
				continue
			}
			if text, ok := p.settingText(c, r, "how "+m.Name+" is reached", name, v); ok {
				return strings.TrimSpace(text)
			}
			return otherwise
		}
		return otherwise
	}
	written := func(v playbook.Value, otherwise string) string {
		if v.IsZero() {
			return otherwise
		}
		return r.Text(v)
	}
	kind := p.o.Login.Connection
	if m.Host == nil && plan.IsLocalhost(m.Name) {
		kind = "local"
	}
	kind = value(written(c.link.connection, kind), "ansible_connection")
	uses := []vars.UseOf{vars.AnyStep, vars.SSHStep}
	switch kind {
	case "local", "ansible.builtin.local":
		p.nameIgnored(c, e.On(m.Machine), vars.AnyStep)
		return nil
	case "paramiko", "paramiko_ssh":
		uses = append(uses, vars.Paramiko)
	case "", "ssh", "smart", "ansible.builtin.ssh":
	default:
		p.Errorf(c.pos, 0, r.Chain, "moon has local and ssh", "the connection `%s` of %s is not known", kind, m.Name)
		return nil
	}
	p.nameIgnored(c, e.On(m.Machine), uses...)
	conn := &plan.Connection{
		Host:    m.Name,
		Address: value("", vars.AddressNames...),
		User:    value(written(c.link.user, p.o.Login.User), vars.UserNames...),
		Key:     value(p.o.Login.PrivateKey, vars.KeyNames...),
	}
	if conn.Address == m.Name {
		conn.Address = ""
	}
	if conn.Key != "" {
		conn.Key = source.ResolvePath(conn.Key, p.plan.Root, p.o.Home)
	}
	args := []string{p.o.Login.SSHArgs}
	for _, name := range vars.ArgsNames {
		text := value("", name)
		if option := plan.SteeringOption(text); option != "" && conn.Steers == "" {
			conn.Steers = option + " in `" + name + "` of " + m.Name
		}
		args = append(args, text)
	}
	if text := value("", vars.HostKeyNames...); text != "" {
		checked, ok := spec.ParseBool(text)
		if !ok {
			p.Errorf(c.pos, 0, r.Chain, "true or false", "whether the key of %s is checked is %s", m.Name, plan.Quoted(text))
		} else if !checked {
			args = append(args, "-o StrictHostKeyChecking=no") // what is written in the others counts before it
		}
	}
	conn.Args = strings.Join(strings.Fields(strings.Join(args, " ")), " ")
	if port := value(written(c.link.port, ""), vars.PortNames...); port != "" {
		n, ok := spec.ParseInt(port)
		if !ok || n < 1 || n > 65535 {
			p.Errorf(c.pos, 0, r.Chain, "a port is a number from 1 to 65535", "the port of %s is %s", m.Name, plan.Quoted(port))
		}
		conn.Port = n
	}
	if seconds := value("", vars.TimeoutNames...); seconds != "" {
		n, ok := spec.ParseInt(seconds)
		if !ok || n < 1 || n > maxConnectSeconds {
			p.Errorf(c.pos, 0, r.Chain, fmt.Sprintf("a number of seconds from 1 to %d", maxConnectSeconds),
				"the timeout for connecting to %s is %s", m.Name, plan.Quoted(seconds))
		}
		conn.Timeout = time.Duration(n) * time.Second
	}
	if program := value("", vars.ExecutableNames...); program != "" && !slices.Contains(usualSSH, program) {
		if strings.ContainsAny(program, "/~") {
			program = source.ResolvePath(program, p.plan.Root, p.o.Home)
		}
		conn.Program = program
		if conn.Steers == "" {
			conn.Steers = program + " in `" + vars.ExecutableNames[0] + "` of " + m.Name
		}
	}
	if password := value("", vars.PasswordNames...); password != "" {
		p.secrets.Add("ansible_password", password)
		conn.Password = password
	}
	return conn
}

// maxConnectSeconds is a day.
const maxConnectSeconds = 24 * 60 * 60

// usualSSH is what ansible_ssh_executable may be without anything being executed that would not be anyway.
var usualSSH = []string{"ssh", "/usr/bin/ssh"}

// connect fills in where a step of a play runs.
func (p *fleet) connect(s *plan.Step, k *plan.Task, c *taskContext, e *plan.Env, r *plan.Renderer) {
	s.Host = c.on.Name
	m := c.on
	if !c.delegate.IsZero() {
		missing := len(r.Missing)
		name := strings.TrimSpace(r.Text(c.delegate))
		switch {
		case len(r.Missing) > missing:
			p.ReportLate(c.delegate, r.Chain, "delegate to a host that is known before the run", "the host to delegate to",
				r.Missing[missing:])
			r.Missing = r.Missing[:missing]
			return
		case name == "" || r.Failed:
			return
		}
		if name != c.on.Name {
			m = p.machine(name)
			s.Delegate = name
		}
	}
	if k.OnController() {
		return // it only is about that host
	}
	s.Conn = p.connectionTo(c, m, e, r)
	if k.Action != nil && k.Action.Plugin != nil {
		k.Python = p.pythonOf(c, m, e, r)
	}
	p.becomeOnHost(s, k, c, e, r)
}

// pythonOf is the interpreter that the variables of a host name for modules in Python; "" if moon is to find one.
func (p *fleet) pythonOf(c *taskContext, m *plannedHost, e *plan.Env, r *plan.Renderer) string {
	const name = vars.PythonName
	v, ok := p.settings(e.On(m.Machine))(name)
	if !ok {
		return ""
	}
	text, _ := p.settingText(c, r, "what runs modules on "+m.Name, name, v)
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "auto") { // auto, auto_silent and so on: as without
		return ""
	}
	return text
}

// settingText is the value of a variable that says how a host is reached or who runs what there, as text; it is not ok, and reported, if
// there is none.
func (p *fleet) settingText(c *taskContext, r *plan.Renderer, what, name string, v any) (text string, ok bool) {
	switch v := v.(type) {
	case value.Fault:
		p.Errorf(c.pos, 0, r.Chain, v.Err.Hint, "%s: `%s` cannot be had: %s", what, name, v.Err.Message)
		return "", false
	case value.Unknown:
		p.Errorf(c.pos, 0, r.Chain, "give it a value that is known before the run", "%s (`%s`) is known only after %s", what, name,
			p.DescribeSteps([]value.Missing{{Name: name, Steps: v.Steps}}))
		return "", false
	}
	return value.Text(value.Reveal(v)), true
}

// becomeOnHost finds out who a step of a play runs as: variables count before keys, and keys before the command line.
func (p *fleet) becomeOnHost(s *plan.Step, k *plan.Task, c *taskContext, e *plan.Env, r *plan.Renderer) {
	b := c.become
	setting := p.settings(e)
	find := func(names ...string) (any, bool) {
		for _, name := range names {
			if v, ok := setting(name); ok {
				return v, true
			}
		}
		return nil, false
	}
	yes := p.o.Login.Become
	if !b.yes.IsZero() {
		yes = p.ReadFlag(b.yes, "become", r, false)
	}
	if v, ok := find("ansible_become"); ok {
		if got, ok := spec.ParseBool(value.Plain(v)); ok {
			yes = got
		}
	}
	if !yes {
		return
	}
	method := p.o.Login.BecomeMethod
	p.ReadFixed(b.method, "become_method", "one of "+strings.Join(vars.BecomeMethods, ", "), r, func(v any) bool {
		method = value.Text(v)
		return true
	})
	if v, ok := find("ansible_become_method"); ok {
		method = value.Text(value.Plain(v))
	}
	switch strings.TrimPrefix(method, "ansible.builtin.") {
	case "sudo", "su", "doas":
		method = strings.TrimPrefix(method, "ansible.builtin.")
	case "":
		if s.Conn == nil && p.o.User != "root" {
			method = vars.BecomeMethods[0]
		}
	default:
		p.Errorf(c.pos, 0, r.Chain, "moon has "+strings.Join(vars.BecomeMethods, ", "), "the become method `%s` is not supported", method)
	}
	of := cmp.Or(method, vars.BecomeMethods[0]) // as with Ansible, where nothing says which
	user, from, at := cmp.Or(p.o.Login.BecomeUser, "root"), "--become-user", c.pos
	if !b.user.IsZero() {
		missing := len(r.Missing)
		user, from, at = r.Text(b.user), "`become_user:`", b.user.Pos()
		if len(r.Missing) > missing {
			k.BecomeUser = b.user
		}
	}
	for _, name := range []string{vars.BecomeNameOf(of, "user"), "ansible_become_user"} {
		v, given := setting(name)
		if !given {
			continue
		}
		from, at, k.BecomeUser = "`"+name+"`", c.pos, playbook.Value{}
		var ok bool
		if user, ok = p.settingText(c, r, "who to become on "+c.on.Name, name, v); !ok {
			return
		}
		break
	}
	if k.BecomeUser.IsZero() && !plan.IsUser(user) && !r.Failed && !r.Undefined {
		message, hint := plan.NotUser(from, user)
		p.Errorf(at, 0, r.Chain, hint, "%s", message)
	}
	if v, ok := find(vars.BecomeNameOf(of, "password"), vars.BecomeNameOf(of, "pass"), "ansible_become_password",
		"ansible_become_pass"); ok {
		if _, open := v.(value.Unknown); !open {
			k.BecomePassword = value.Text(value.Reveal(v))
			p.secrets.Add("ansible_become_password", k.BecomePassword)
		}
	}
	there := p.o.User
	if s.Conn != nil {
		there = s.Conn.User
	}
	if user != there || there == "" || !k.BecomeUser.IsZero() {
		s.Become = &plan.Become{User: user, Method: method}
		p.nameIgnored(c, e, vars.Becoming)
	}
}

// settings looks up variables that say how a host is reached. Nearly all of them are nowhere, for any task: that is remembered
// where nothing on the task itself can give one.
func (p *fleet) settings(e *plan.Env) func(name string) (any, bool) {
	fr := e.Frame
	if fr.Over != nil || fr.Loop != nil || fr.Params != nil || fr.Step != nil || e.Extra != nil || e.Pending != nil {
		return e.Find
	}
	m := p.machines[fr.All.Of.Name]
	key := settingsKey{
		scene: fr.Scene, inventory: m.InventoryFor(fr.Scene), block: fr.Block, state: m.State,
		documentAt: fr.DocumentAt, producedAt: fr.ProducedAt,
	}
	if m.nowhere == nil || m.nowhereAt != key {
		m.nowhereAt, m.nowhere = key, map[string]bool{}
	}
	nowhere := m.nowhere
	return func(name string) (any, bool) {
		if nowhere[name] {
			return nil, false
		}
		v, ok := e.Find(name)
		if !ok {
			nowhere[name] = true
		}
		return v, ok
	}
}
