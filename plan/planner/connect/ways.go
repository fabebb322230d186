package connect

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/exec/way"
	"moon/plan"
	"moon/plan/source"
	"moon/plan/vars"
)

// route is a kind of connection other than ssh: a program that runs commands in a container, a directory or another namespace.
type route struct {
	names   []string // of the kind; the first is what it is called
	address []string // the variables that name what it leads to, before the name of the host
	words   func(w *words)
	// inside says of what it leads to that the programs there may have come with the playbook: before approval it is entered only if
	// the playbook is trusted. "": it was set up on this machine, like a host
	inside string
}

// words are those of a route, while they are put together.
type words struct {
	value     setting
	text      func(name, value string) []string // arguments as a shell takes them apart
	address   string
	user      string
	list      []string
	steers    string // what of it the playbook's variables name and may have other programs executed
	directory func(path string) string
}

// add adds words as they are.
func (w *words) add(list ...string) { w.list = append(w.list, list...) }

// program begins with a program, which a variable may name.
func (w *words) program(usual string, names ...string) {
	program := w.value(usual, names...)
	if program != usual {
		if strings.ContainsAny(program, "/~") {
			program = w.directory(program)
		}
		w.steer(program, names[0])
	}
	w.add(program)
}

// extra adds the arguments that a variable has.
func (w *words) extra(names ...string) {
	if text := w.value("", names...); text != "" {
		w.add(w.text(names[0], text)...)
		w.steer(plan.FirstLine(text), names[0])
	}
}

// flag adds an option with the value of a variable, if it has one.
func (w *words) flag(option string, names ...string) {
	if text := w.value("", names...); text != "" {
		w.add(option, text)
	}
}

// file adds an option with the path of a file that may name programs.
func (w *words) file(option string, names ...string) {
	if text := w.value("", names...); text != "" {
		w.add(option, w.directory(text))
		w.steer(text, names[0])
	}
}

// login adds an option with the user to be there, if one is named.
func (w *words) login(option string) {
	if w.user != "" {
		w.add(option, w.user)
	}
}

func (w *words) steer(what, name string) {
	if w.steers == "" {
		w.steers = what + " in `" + name + "`"
	}
}

// routes are all of them. What follows the words of each is `/bin/sh -c …`.
var routes = []route{
	{
		names:   []string{"docker", "community.docker.docker", "community.general.docker", "community.docker.docker_api"},
		address: []string{"ansible_docker_host"},
		words: func(w *words) {
			w.program("docker", vars.DockerProgram)
			w.extra(vars.DockerArgs)
			w.add("exec", "-i", way.OnTerminal+"-t")
			w.login("-u")
			w.flag("-w", vars.DockerDirectory)
			if ok, _ := spec.ParseBool(w.value("false", vars.DockerPrivileged)); ok {
				w.add("--privileged")
			}
			w.add(w.address)
		},
	},
	{
		names:   []string{"podman", "containers.podman.podman"},
		address: []string{"ansible_podman_host"},
		words: func(w *words) {
			w.program("podman", vars.PodmanProgram)
			w.extra(vars.PodmanArgs)
			w.add("exec", "-i", way.OnTerminal+"-t")
			w.login("--user")
			w.add(w.address)
		},
	},
	{
		names:   []string{"buildah", "containers.podman.buildah"},
		address: []string{"ansible_buildah_host"},
		words: func(w *words) {
			w.add("buildah", "run", way.OnTerminal+"--terminal")
			w.login("--user")
			w.add("--", w.address)
		},
	},
	{
		names:   []string{"kubectl", "kubernetes.core.kubectl", "community.kubernetes.kubectl", "community.general.kubectl"},
		address: []string{vars.KubectlPod},
		words:   func(w *words) { intoPod(w, "kubectl", "ansible_kubectl") },
	},
	{
		names:   []string{"oc", "community.okd.oc", "community.general.oc"},
		address: []string{vars.OcPod},
		words:   func(w *words) { intoPod(w, "oc", "ansible_oc") },
	},
	{
		names:   []string{"incus", "community.general.incus"},
		address: []string{"ansible_incus_host"},
		words:   func(w *words) { intoInstance(w, "incus", "ansible_incus") },
	},
	{
		names:   []string{"lxd", "community.general.lxd"},
		address: []string{"ansible_lxd_host"},
		words:   func(w *words) { intoInstance(w, "lxc", "ansible_lxd") },
	},
	{
		names:   []string{"lxc", "community.general.lxc"},
		address: []string{"ansible_lxc_host"},
		words:   func(w *words) { w.add("lxc-attach", "--clear-env", "-n", w.address, "--") },
	},
	{
		names: []string{"chroot", "community.general.chroot"},
		words: func(w *words) {
			w.program("chroot", vars.ChrootProgram)
			w.add(w.directory(w.address))
		},
		inside: "the directory",
	},
	{
		names: []string{"jail", "community.general.jail", "community.general.iocage"},
		words: func(w *words) {
			w.add("jexec")
			w.login("-U")
			w.add(w.address)
		},
	},
	{
		names: []string{"nspawn"},
		words: func(w *words) {
			if !strings.ContainsAny(w.address, "/~") { // a machine that runs
				w.add("systemd-run", "--quiet", "--wait", "--collect", "--pipe", way.OnTerminal+"--pty", "--machine="+w.address)
				w.login("--uid")
				return
			}
			w.add("systemd-nspawn", "--quiet", "--console=pipe", "--directory="+w.directory(w.address))
			w.login("--user")
		},
		inside: "the machine",
	},
	{
		names: []string{"nsenter", "community.general.nsenter"},
		words: func(w *words) {
			w.add("nsenter", "--mount", "--uts", "--ipc", "--net", "--pid", "--target="+w.value("1", vars.NsenterPID), "--")
		},
		inside: "the namespaces",
	},
	{
		names: []string{"nats"}, // hosts that call home: moon-nats knows where to
		words: func(w *words) { w.add("moon-nats", "connect", way.OnTerminal+"-t", w.address) },
	},
}

// intoPod are the words of kubectl and of what is like it.
func intoPod(w *words, program, prefix string) {
	w.add(program)
	w.file("--kubeconfig", prefix+"_kubeconfig", prefix+"_config")
	w.flag("--context", prefix+"_context")
	w.flag("--namespace", prefix+"_namespace")
	w.extra(prefix + "_extra_args")
	w.add("exec", "-i", way.OnTerminal+"-t", w.address)
	w.flag("-c", prefix+"_container")
	w.add("--")
}

// intoInstance are the words of incus and of lxd's client.
func intoInstance(w *words, program, prefix string) {
	w.add(program, "exec")
	w.flag("--project", prefix+"_project")
	name := w.address
	if remote := w.value("local", prefix+"_remote"); remote != "local" && remote != "" {
		name = remote + ":" + name
	}
	w.add(name, "--")
}

// findRoute returns the route with a name; nil if there is none.
func findRoute(kind string) *route {
	i := slices.IndexFunc(routes, func(r route) bool { return slices.Contains(r.names, kind) })
	if i < 0 {
		return nil
	}
	return &routes[i]
}

// routeNames are what the kinds are called.
func routeNames() (names []string) {
	for i := range routes {
		names = append(names, routes[i].names[0])
	}
	return names
}

// connectBy finds out how a host is reached that ssh does not lead to.
func (c *Connector) connectBy(by *route, conn *plan.Connection, value setting) error {
	conn.Address = value(conn.Address, by.address...)
	to := conn.Address
	if to == "" {
		to = conn.Host
	}
	var wrong error
	put := words{
		value: value, address: to, user: conn.User,
		directory: func(path string) string { return c.pathHere(path) },
		text: func(name, text string) []string {
			list, err := way.SplitWords(text, func(string) string { return "" })
			if err != nil {
				wrong = err
			}
			return list
		},
	}
	by.words(&put)
	if by.inside != "" {
		put.steer(by.inside+" "+to, "ansible_host")
	}
	if put.steers != "" {
		conn.Steers = put.steers + " of " + conn.Host
	}
	conn.Way = way.New(by.names[0], put.list)
	return wrong
}

// pathHere is a path of this machine that a variable names.
func (c *Connector) pathHere(path string) string {
	if !filepath.IsAbs(path) {
		path = source.ResolvePath(path, c.plan.Root, c.o.Home)
	}
	return path
}
