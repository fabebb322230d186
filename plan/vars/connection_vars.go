package vars

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval/value"
)

// Honour is what moon makes of a variable of Ansible that says how a host is reached, or how steps are started there.
type Honour uint8

// What becomes of a variable.
const (
	Honoured   Honour = iota
	Harmless          // it cannot change what a run does, because moon does not work that way
	Unhonoured        // it has no effect, and the plan says so
)

// ConnectionVariable is a variable with which Ansible's connection, shell and become plugins are set up.
type ConnectionVariable struct {
	Names  []string // with a * for any letters
	Honour Honour
	Doc    string   // what it does, why it does not matter, or what to use instead
	usual  []string // values that ask for what moon does anyway
	Only   UseOf
}

// UseOf is which steps a variable is about.
type UseOf uint8

// Which steps a variable may be about.
const (
	AnyStep  UseOf = iota
	SSHStep        // those on hosts that are reached by ssh
	Paramiko       // those for which Ansible would use paramiko
	Becoming       // those that run as another user
	WayStep        // those on hosts that another program than ssh leads to
)

// ConnectionVariables are all that moon knows of: those that it honours, as the planner asks for them, and the others.
var ConnectionVariables = []ConnectionVariable{
	{Names: []string{"ansible_connection"}, Doc: "`ssh`, `local` or [another way](plays.md#other-ways-to-a-host); also `connection:` of a play or task, and `-c`"},
	{Names: AddressNames, Doc: "the address of the host; the name of a container; the directory of `chroot`"},
	{Names: PortNames, Doc: "the port of its SSH server; also `port:`"},
	{Names: UserNames, Doc: "the user to log in as; also `remote_user:` and `-u`"},
	{Names: KeyNames, Doc: "the file of a private key; also `--private-key`"},
	{Names: ArgsNames, Doc: "further arguments of ssh"},
	{Names: PasswordNames, Doc: "the password of the user; a key is better"},
	{Names: TimeoutNames, Doc: "how many seconds connecting may take"},
	{Names: HostKeyNames, Doc: "`false`: the key of a host that is not known is accepted, as with `StrictHostKeyChecking=no`"},
	{Names: ExecutableNames, Doc: "the program to use as ssh; before approval only if the playbook is trusted"},
	{
		Names: []string{"ansible_become", "ansible_become_method"},
		Doc:   "whether and how steps run as another user; also `become:`, `become_method:` and `-b`",
	},
	{Names: becomeNames("user"), Doc: "the user to become; also `become_user:`. Those of a method count only with that method"},
	{Names: becomeNames("password"), Doc: "the password for it"},
	{Names: becomeNames("pass"), Doc: "the same"},
	{Names: []string{PythonName}, Doc: "what runs [modules in Python](plugins.md#modules-written-for-ansible) there"},
	{
		Names: intoNames,
		Doc:   "the name of a container, an instance or a pod; before `ansible_host`",
	},
	{Names: ofPods("container"), Doc: "the container of a pod"},
	{Names: ofPods("namespace", "context"), Doc: "the namespace of a pod; the context of its cluster"},
	{
		Names: ofPods("kubeconfig", "config", "extra_args"),
		Doc:   "the configuration of the cluster, and further arguments; before approval only if the playbook is trusted",
	},
	{
		Names: []string{"ansible_incus_remote", "ansible_lxd_remote", "ansible_incus_project", "ansible_lxd_project"},
		Doc:   "the server and the project of an instance",
	},
	{Names: []string{DockerDirectory, DockerPrivileged}, Doc: "the directory in which commands start; `true`: with all rights"},
	{
		Names: []string{DockerArgs, DockerProgram, PodmanArgs, PodmanProgram, ChrootProgram},
		Doc:   "further arguments, and the program to use; before approval only if the playbook is trusted",
	},
	{Names: []string{NsenterPID}, Doc: "the process whose namespaces are entered; 1"},

	{Names: []string{"ansible_pipelining", "ansible_ssh_pipelining"}, Honour: Harmless, Doc: "one connection carries everything"},
	{
		Names: []string{"ansible_control_path", "ansible_control_path_dir"}, Honour: Harmless,
		Doc: "connections are shared in a directory of moon's own",
	},
	{
		Names: []string{
			"ansible_ssh_transfer_method", "ansible_scp_if_ssh", "ansible_scp_executable", "ansible_scp_extra_args",
			"ansible_sftp_executable", "ansible_sftp_extra_args", "ansible_sftp_batch_mode",
		},
		Honour: Harmless, Doc: "files go through the connection itself, without scp and sftp",
	},
	{
		Names: []string{"ansible_sshpass_prompt", "ansible_ssh_password_mechanism"}, Honour: Harmless,
		Doc: "moon answers what ssh asks for by itself, without sshpass",
	},
	{Names: []string{"ansible_ssh_use_tty"}, Honour: Harmless, Doc: "a step on a host has no terminal"},
	{
		Names:  []string{"ansible_admin_users", "ansible_common_remote_group", "ansible_shell_allow_world_readable_temp"},
		Honour: Harmless, Doc: "no temporary files are passed from one user to another",
	},
	{Names: []string{"ansible_async_dir"}, Honour: Harmless, Doc: "jobs of `async` are kept in ~/.moon_async; `environment: {ANSIBLE_ASYNC_DIR: …}` names another directory"},
	{Names: []string{"ansible_winrm_*", "ansible_psrp_*"}, Honour: Harmless, Doc: "those connections are refused"},

	{
		Names: []string{"ansible_ssh_retries"}, Honour: Unhonoured, Only: SSHStep, usual: []string{"0"},
		Doc: "put `-o ConnectionAttempts=N` into `ansible_ssh_common_args`",
	},
	{
		Names: []string{"ansible_ssh_pkcs11_provider", "ansible_pkcs11_provider"}, Honour: Unhonoured, Only: SSHStep,
		Doc: "put `-o PKCS11Provider=PATH` into `ansible_ssh_common_args`",
	},
	{
		Names: []string{
			"ansible_ssh_private_key", "ansible_private_key", "ansible_ssh_private_key_passphrase",
			"ansible_private_key_passphrase",
		}, Honour: Unhonoured, Only: SSHStep,
		Doc: "load the key into ssh-agent, or name its file in `ansible_ssh_private_key_file`",
	},
	{
		Names: []string{"ansible_ssh_verbosity"}, Honour: Unhonoured, Only: SSHStep, usual: []string{"0"},
		Doc: "put `-o LogLevel=DEBUG` into `ansible_ssh_common_args`",
	},
	{
		Names: []string{"ansible_paramiko_*"}, Honour: Unhonoured, Only: Paramiko,
		Doc: "moon uses OpenSSH: use the variables of ssh, or ~/.ssh/config",
	},
	{
		Names: []string{"ansible_shell_executable"}, Honour: Unhonoured, usual: []string{"/bin/sh", "sh"},
		Doc: "write `executable:` on the tasks that need another shell",
	},
	{
		Names: []string{"ansible_shell_type"}, Honour: Unhonoured, usual: []string{"sh"},
		Doc: "steps run with /bin/sh; write `executable:` on the tasks that need another shell",
	},
	{
		Names: []string{"ansible_remote_tmp", "ansible_remote_temp", "ansible_system_tmpdirs"}, Honour: Unhonoured, Only: SSHStep,
		Doc: "moon needs one directory on the host in which programs may run: ~/.cache/moon, or what XDG_CACHE_HOME or TMPDIR name there",
	},
	{
		Names: becomeNames("exe"), Honour: Unhonoured, Only: Becoming, usual: []string{"sudo", "su", "doas"},
		Doc: "the program is found by its name in PATH; put the one to use first there",
	},
	{
		Names: becomeNames("flags"), Honour: Unhonoured, Only: Becoming,
		usual: []string{"-H", "-n", "-S", "-H -S", "-H -S -n", "-H -n", "-S -n"},
		Doc:   "put what is wanted into the settings of sudo or doas, or write the command with them as a step",
	},
	{
		Names: ofPods("host", "username", "user", "password", "token", "client_cert", "client_key", "cert_file", "key_file", "ca_cert",
			"ssl_ca_cert", "validate_certs", "verify_ssl"),
		Honour: Unhonoured, Only: WayStep,
		Doc: "put it into a configuration file, and name that in `ansible_kubectl_kubeconfig`",
	},
	{
		Names: []string{"ansible_docker_timeout", "ansible_lxd_executable", "ansible_lxc_executable"}, Honour: Harmless,
		Doc: "the connection stays open, and begins with /bin/sh",
	},
	{
		Names: []string{"ansible_su_prompt_l10n"}, Honour: Unhonoured, Only: Becoming,
		Doc: "use sudo, or `LANGUAGE=C` for the user who logs in",
	},
	{
		Names: []string{"ansible_perl_interpreter", "ansible_ruby_interpreter"}, Honour: Unhonoured,
		Doc: "modules of these languages run with what their first line names",
	},
	{
		Names: []string{"ansible_interpreter_python_fallback"}, Honour: Unhonoured,
		Doc: "name the interpreter in `ansible_python_interpreter`",
	},
}

// The names that the planner looks up, those that count first before others.
var (
	AddressNames    = []string{"ansible_host", "ansible_ssh_host"}
	PortNames       = []string{"ansible_port", "ansible_ssh_port"}
	UserNames       = []string{"ansible_user", "ansible_ssh_user"}
	KeyNames        = []string{"ansible_ssh_private_key_file", "ansible_private_key_file"}
	ArgsNames       = []string{"ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"}
	PasswordNames   = []string{"ansible_password", "ansible_ssh_pass", "ansible_ssh_password"}
	TimeoutNames    = []string{"ansible_ssh_timeout", "ansible_timeout"}
	HostKeyNames    = []string{"ansible_ssh_host_key_checking", "ansible_host_key_checking"}
	ExecutableNames = []string{"ansible_ssh_executable"}
)

// The names of settings of connections by other programs than ssh.
const (
	DockerProgram    = "ansible_docker_command"
	DockerArgs       = "ansible_docker_extra_args"
	DockerDirectory  = "ansible_docker_working_dir"
	DockerPrivileged = "ansible_docker_privileged"
	PodmanProgram    = "ansible_podman_executable"
	PodmanArgs       = "ansible_podman_extra_args"
	ChrootProgram    = "ansible_chroot_exe"
	NsenterPID       = "ansible_nsenter_pid"
	KubectlPod       = "ansible_kubectl_pod"
	OcPod            = "ansible_oc_pod"
)

// intoNames are the variables that name a container and the like.
var intoNames = []string{
	"ansible_docker_host", "ansible_podman_host", "ansible_buildah_host", "ansible_incus_host", "ansible_lxd_host", "ansible_lxc_host",
	KubectlPod, OcPod,
}

// ofPods are the names of settings for both programs that lead into pods.
func ofPods(settings ...string) (names []string) {
	for _, setting := range settings {
		names = append(names, "ansible_kubectl_"+setting, "ansible_oc_"+setting)
	}
	return names
}

// Reaches reports whether a variable says which machine a host is, and how it is reached.
func Reaches(name string) bool {
	return name == "ansible_connection" || slices.Contains(slices.Concat(AddressNames, PortNames, UserNames, KeyNames, ArgsNames, intoNames), name)
}

// PythonName is the variable with the interpreter of modules in Python.
const PythonName = "ansible_python_interpreter"

// becomeNames are the names of a setting of become: for all methods, and for each.
func becomeNames(setting string) []string {
	names := []string{"ansible_become_" + setting}
	for _, method := range BecomeMethods {
		names = append(names, BecomeNameOf(method, setting))
	}
	return names
}

// BecomeNameOf is the name of a setting of one method, which counts before that for all.
func BecomeNameOf(method, setting string) string { return "ansible_" + method + "_" + setting }

// UnhonouredEntry is the entry of a variable that would change what a run does, and that moon does not honour; nil for any other.
func UnhonouredEntry(name string) *ConnectionVariable {
	if !strings.HasPrefix(name, "ansible_") {
		return nil
	}
	for i := range ConnectionVariables {
		if v := &ConnectionVariables[i]; v.Honour == Unhonoured &&
			slices.ContainsFunc(v.Names, func(pattern string) bool { return fits(pattern, name) }) {
			return v
		}
	}
	return nil
}

func fits(pattern, name string) bool {
	stem, open := strings.CutSuffix(pattern, "*")
	return name == pattern || open && strings.HasPrefix(name, stem)
}

// IgnoredVariable is one that moon does not honour.
type IgnoredVariable struct {
	Name  string
	Entry *ConnectionVariable
	Said  int // how many diagnostics there were with it
}

// PlaceOf is where the variable in effect stands. A fact of that name is none.
func PlaceOf(fr *Frame, name string) (at diag.Origin, given bool) {
	fr.Each(name, func(b *Binding) bool {
		at, given = b.Origin, b.From != "fact"
		if at.File == "" && given {
			at.File = b.From
		}
		return true
	})
	return at, given
}

// Usual reports whether a value of the variable asks for what moon does anyway; nil is none.
func (g *IgnoredVariable) Usual(v any) bool {
	switch v.(type) {
	case nil:
		return true
	case value.Unknown, value.Fault:
		// What it comes to later may ask for something else.
		return false
	}
	text := strings.TrimSpace(value.Text(value.Plain(v)))
	return text == "" || slices.Contains(g.Entry.usual, text)
}

func init() {
	for i := range ConnectionVariables {
		for _, name := range ConnectionVariables[i].Names {
			settings[name] = true
		}
	}
}

// PythonIn is the interpreter that a value of PythonName names. auto, auto_silent and so on are as without.
func PythonIn(text string) string {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "auto") {
		return ""
	}
	return text
}

// BecomeMethods are the ways to become another user.
var BecomeMethods = []string{"sudo", "su", "doas"}
