package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/playbook"
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
func (p *fleet) connectionTo(c *taskContext, m *plannedHost, e *env, r *renderer) *Connection {
	setting := p.settings(onMachine(e, m))
	value := func(otherwise string, names ...string) string {
		for _, name := range names {
			v, ok := setting(name)
			if !ok {
				continue
			}
			if text, ok := p.settingText(c, r, "how "+m.name+" is reached", name, v); ok {
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
		return r.text(v)
	}
	kind := p.o.Connection
	if m.host == nil && isLocalhost(m.name) {
		kind = "local"
	}
	kind = value(written(c.link.connection, kind), "ansible_connection")
	uses := []useOf{anyStep, sshStep}
	switch kind {
	case "local", "ansible.builtin.local":
		p.nameIgnored(c, onMachine(e, m), anyStep)
		return nil
	case "paramiko", "paramiko_ssh":
		uses = append(uses, paramiko)
	case "", "ssh", "smart", "ansible.builtin.ssh":
	default:
		p.errorf(c.pos, 0, r.chain, "moon has local and ssh", "the connection `%s` of %s is not known", kind, m.name)
		return nil
	}
	p.nameIgnored(c, onMachine(e, m), uses...)
	conn := &Connection{
		Host:    m.name,
		Address: value("", addressNames...),
		User:    value(written(c.link.user, p.o.RemoteUser), userNames...),
		Key:     value(p.o.PrivateKey, keyNames...),
	}
	if conn.Address == m.name {
		conn.Address = ""
	}
	if conn.Key != "" {
		conn.Key = resolvePath(conn.Key, p.plan.Root, p.o.Home)
	}
	args := []string{p.o.SSHArgs}
	for _, name := range argsNames {
		text := value("", name)
		if option := SteeringOption(text); option != "" && conn.Steers == "" {
			conn.Steers = option + " in `" + name + "` of " + m.name
		}
		args = append(args, text)
	}
	if text := value("", hostKeyNames...); text != "" {
		checked, ok := spec.ParseBool(text)
		if !ok {
			p.errorf(c.pos, 0, r.chain, "true or false", "whether the key of %s is checked is %s", m.name, quoted(text))
		} else if !checked {
			args = append(args, "-o StrictHostKeyChecking=no") // what is written in the others counts before it
		}
	}
	conn.Args = strings.Join(strings.Fields(strings.Join(args, " ")), " ")
	if port := value(written(c.link.port, ""), portNames...); port != "" {
		n, ok := spec.ParseInt(port)
		if !ok || n < 1 || n > 65535 {
			p.errorf(c.pos, 0, r.chain, "a port is a number from 1 to 65535", "the port of %s is %s", m.name, quoted(port))
		}
		conn.Port = n
	}
	if seconds := value("", timeoutNames...); seconds != "" {
		n, ok := spec.ParseInt(seconds)
		if !ok || n < 1 || n > maxConnectSeconds {
			p.errorf(c.pos, 0, r.chain, fmt.Sprintf("a number of seconds from 1 to %d", maxConnectSeconds), "the timeout for connecting to %s is %s", m.name, quoted(seconds))
		}
		conn.Timeout = time.Duration(n) * time.Second
	}
	if program := value("", executableNames...); program != "" && !slices.Contains(usualSSH, program) {
		if strings.ContainsAny(program, "/~") {
			program = resolvePath(program, p.plan.Root, p.o.Home)
		}
		conn.Program = program
		if conn.Steers == "" {
			conn.Steers = program + " in `" + executableNames[0] + "` of " + m.name
		}
	}
	if password := value("", passwordNames...); password != "" {
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
func (p *fleet) connect(s *Step, k *task, c *taskContext, e *env, r *renderer) {
	s.Host = c.on.name
	m := c.on
	if !c.delegate.IsZero() {
		missing := len(r.missing)
		name := strings.TrimSpace(r.text(c.delegate))
		switch {
		case len(r.missing) > missing:
			p.tooLate(c.delegate, r.chain, "delegate to a host that is known before the run", "the host to delegate to", r.missing[missing:])
			r.missing = r.missing[:missing]
			return
		case name == "" || r.failed:
			return
		}
		if name != c.on.name {
			m = p.machine(name)
			s.Delegate = name
		}
	}
	if k.onController() {
		return // it only is about that host
	}
	s.Conn = p.connectionTo(c, m, e, r)
	if k.action != nil && k.action.Plugin != nil {
		k.python = p.pythonOf(c, m, e, r)
	}
	p.becomeOnHost(s, k, c, e, r)
}

// pythonOf is the interpreter that the variables of a host name for modules in Python; "" if moon is to find one.
func (p *fleet) pythonOf(c *taskContext, m *plannedHost, e *env, r *renderer) string {
	const name = pythonName
	v, ok := p.settings(onMachine(e, m))(name)
	if !ok {
		return ""
	}
	text, _ := p.settingText(c, r, "what runs modules on "+m.name, name, v)
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "auto") { // auto, auto_silent and so on: as without
		return ""
	}
	return text
}

// settingText is the value of a variable that says how a host is reached or who runs what there, as text; it is not ok, and reported, if
// there is none.
func (p *fleet) settingText(c *taskContext, r *renderer, what, name string, v any) (text string, ok bool) {
	switch v := v.(type) {
	case eval.Fault:
		p.errorf(c.pos, 0, r.chain, v.Err.Hint, "%s: `%s` cannot be had: %s", what, name, v.Err.Message)
		return "", false
	case eval.Unknown:
		p.errorf(c.pos, 0, r.chain, "give it a value that is known before the run", "%s (`%s`) is known only after %s", what, name, p.describeSteps([]eval.Missing{{Name: name, Steps: v.Steps}}))
		return "", false
	}
	return eval.Text(eval.Reveal(v)), true
}

// onMachine is an environment with the variables of a host, which may be another one where a task is delegated.
func onMachine(e *env, m *plannedHost) *env {
	if e.frame.all.of == m {
		return e
	}
	fr := *e.frame
	fr.all = m.names
	other := *e
	other.frame = &fr
	return &other
}

// becomeOnHost finds out who a step of a play runs as: variables count before keys, and keys before the command line.
func (p *fleet) becomeOnHost(s *Step, k *task, c *taskContext, e *env, r *renderer) {
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
	yes := p.o.Become
	if !b.yes.IsZero() {
		yes = p.flag(b.yes, "become", r, false)
	}
	if v, ok := find("ansible_become"); ok {
		if got, ok := spec.ParseBool(eval.Plain(v)); ok {
			yes = got
		}
	}
	if !yes {
		return
	}
	method := p.o.BecomeMethod
	p.fixed(b.method, "become_method", "one of "+strings.Join(becomeMethods, ", "), r, func(v any) bool {
		method = eval.Text(v)
		return true
	})
	if v, ok := find("ansible_become_method"); ok {
		method = eval.Text(eval.Plain(v))
	}
	switch strings.TrimPrefix(method, "ansible.builtin.") {
	case "sudo", "su", "doas":
		method = strings.TrimPrefix(method, "ansible.builtin.")
	case "":
		if s.Conn == nil && p.o.User != "root" {
			method = becomeMethods[0]
		}
	default:
		p.errorf(c.pos, 0, r.chain, "moon has "+strings.Join(becomeMethods, ", "), "the become method `%s` is not supported", method)
	}
	of := cmp.Or(method, becomeMethods[0]) // as with Ansible, where nothing says which
	user, from, at := cmp.Or(p.o.BecomeUser, "root"), "--become-user", c.pos
	if !b.user.IsZero() {
		missing := len(r.missing)
		user, from, at = r.text(b.user), "`become_user:`", b.user.Pos()
		if len(r.missing) > missing {
			k.becomeUser = b.user
		}
	}
	for _, name := range []string{becomeNameOf(of, "user"), "ansible_become_user"} {
		v, given := setting(name)
		if !given {
			continue
		}
		from, at, k.becomeUser = "`"+name+"`", c.pos, playbook.Value{}
		var ok bool
		if user, ok = p.settingText(c, r, "who to become on "+c.on.name, name, v); !ok {
			return
		}
		break
	}
	if k.becomeUser.IsZero() && !isUser(user) && !r.failed && !r.undefined {
		message, hint := notUser(from, user)
		p.errorf(at, 0, r.chain, hint, "%s", message)
	}
	if v, ok := find(becomeNameOf(of, "password"), becomeNameOf(of, "pass"), "ansible_become_password", "ansible_become_pass"); ok {
		if _, open := v.(eval.Unknown); !open {
			k.becomePassword = eval.Text(eval.Reveal(v))
			p.secrets.Add("ansible_become_password", k.becomePassword)
		}
	}
	there := p.o.User
	if s.Conn != nil {
		there = s.Conn.User
	}
	if user != there || there == "" || !k.becomeUser.IsZero() {
		s.Become = &Become{User: user, Method: method}
		p.nameIgnored(c, e, becoming)
	}
}

// settings looks up variables that say how a host is reached. Nearly all of them are nowhere, for any task: that is remembered
// where nothing on the task itself can give one.
func (p *fleet) settings(e *env) func(name string) (any, bool) {
	fr := e.frame
	if fr.over != nil || fr.loop != nil || fr.params != nil || fr.step != nil || e.extra != nil || e.pending != nil {
		return e.find
	}
	m := fr.all.of
	key := settingsKey{scene: fr.scene, inventory: m.inventoryFor(fr.scene), block: fr.block, state: m.state, documentAt: fr.documentAt, producedAt: fr.producedAt}
	if m.nowhere == nil || m.nowhereAt != key {
		m.nowhereAt, m.nowhere = key, map[string]bool{}
	}
	nowhere := m.nowhere
	return func(name string) (any, bool) {
		if nowhere[name] {
			return nil, false
		}
		v, ok := e.find(name)
		if !ok {
			nowhere[name] = true
		}
		return v, ok
	}
}
