package spec

import (
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// SynchronizeArgs are the arguments of synchronize.
type SynchronizeArgs struct {
	Src           string   `arg:"src" kind:"path" need:"yes" doc:"The file or directory to copy: on the machine that moon runs on, or with mode: pull on the host. With a slash at the end, only what is in a directory is copied."`
	Dest          string   `arg:"dest" kind:"path" need:"yes" doc:"Where to copy it, on the other machine."`
	Mode          string   `arg:"mode" default:"push" enum:"push|pull" doc:"push: from here to the host; pull: from the host to here."`
	Local         bool     `arg:"local" default:"false" doc:"Both are on the host of the step. A task that is delegated to its own host has it."`
	Archive       bool     `arg:"archive" default:"true" doc:"Copy directories with everything below, links as links, and modes, times, owners and groups."`
	Recursive     *bool    `arg:"recursive" implied:"as archive" doc:"Copy directories with everything below."`
	Links         *bool    `arg:"links" implied:"as archive" doc:"Copy links as links."`
	CopyLinks     bool     `arg:"copy_links" default:"false" doc:"Copy what links lead to."`
	Perms         *bool    `arg:"perms" implied:"as archive" doc:"Keep modes."`
	Times         *bool    `arg:"times" implied:"as archive" doc:"Keep times."`
	Owner         *bool    `arg:"owner" implied:"as archive" doc:"Keep owners, where root writes."`
	Group         *bool    `arg:"group" implied:"as archive" doc:"Keep groups."`
	Dirs          bool     `arg:"dirs" default:"false" doc:"Copy directories without what is in them."`
	Checksum      bool     `arg:"checksum" default:"false" doc:"Compare contents, and not only sizes and times."`
	Compress      bool     `arg:"compress" default:"true" doc:"Compress what is sent."`
	Delete        bool     `arg:"delete" default:"false" doc:"Delete what is in dest and not in src."`
	ExistingOnly  bool     `arg:"existing_only" default:"false" doc:"Create no new files."`
	Partial       bool     `arg:"partial" default:"false" doc:"Keep a part of a file if the transfer breaks."`
	DelayUpdates  bool     `arg:"delay_updates" default:"true" doc:"Put all files in their places at the end. Also, honour .rsync-filter files in src."`
	LinkDest      []string `arg:"link_dest" doc:"Directories next to dest: what is the same there becomes another name of it."`
	Opts          []string `arg:"rsync_opts" doc:"Further options of rsync."`
	RsyncPath     string   `arg:"rsync_path" implied:"rsync; with become, by sudo" doc:"How rsync is called on the host."`
	RsyncTimeout  int      `arg:"rsync_timeout" default:"0" doc:"After how many seconds without data rsync ends; 0: never."`
	DestPort      int      `arg:"dest_port" implied:"that of the connection" doc:"The port of the SSH server."`
	PrivateKey    string   `arg:"private_key" kind:"path" implied:"that of the connection" doc:"The private key for SSH, on the machine that moon runs on."`
	SetRemoteUser bool     `arg:"set_remote_user" default:"true" doc:"Log in as the user of the connection, and not as who the configuration of ssh says."`
	UseSSHArgs    bool     `arg:"use_ssh_args" default:"false" doc:"Ignored: rsync uses the connection that moon has to the host, with all its arguments."`
	Multiplexing  bool     `arg:"ssh_connection_multiplexing" default:"false" doc:"Ignored: it always shares that connection."`
	VerifyHost    bool     `arg:"verify_host" default:"false" doc:"Ignored: the key of the host is verified as for that connection."`

	Peer *Peer // nil: both ends are on one machine
}

// Peer is the other machine of a synchronize step, as rsync reaches it.
type Peer struct {
	Host  string   // before the colon
	Shell []string // what leads there; the name of the host and a command follow
	Rsync string   // how rsync is called there, unless rsync_path says so; "": rsync
}

var _ = declareAction(&Action{
	Name:    "synchronize",
	Aliases: []string{"ansible.posix.synchronize"},
	Doc:     "Copies files between this machine and the host of the step with rsync, or on one machine.",
	Subject: "dest",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[SynchronizeArgs](),
	Returns: []Return{
		{"msg", "What rsync says: a line for each file that was changed."},
		{"cmd", "The command."},
		{"rc", "Its exit status."},
		{"stdout_lines", "What it says, as a list."},
	},
	Least: "synchronize: {src: /nowhere/a, dest: /nowhere/b}",
	Example: `- synchronize: {src: site/, dest: /srv/www, delete: true, rsync_opts: [--exclude=.git]}
`,
})

// nextOption is where a text with several options of rsync is cut: a pattern of one may have a comma.
var nextOption = pattern.New(`,\s*(-)`)

func (a *SynchronizeArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	if a.Delete && !a.Archive && (a.Recursive == nil || !*a.Recursive) && !a.Dirs {
		add("delete", "`delete` needs `recursive: true`", "")
	}
	if strings.HasPrefix(a.Src, "rsync://") && strings.HasPrefix(a.Dest, "rsync://") {
		add("dest", "`src` and `dest` are both on servers", "one of them must be a path")
	}
	for _, dir := range a.LinkDest {
		if !strings.HasPrefix(dir, "/") {
			add("link_dest", "`link_dest` must begin with /, found "+nameValue(dir), "")
		}
	}
	if a.RsyncTimeout < 0 {
		add("rsync_timeout", "`rsync_timeout` must not be negative", "")
	}
	if a.DestPort < 0 || a.DestPort > 65535 {
		add("dest_port", "`dest_port` must be a port: a number up to 65535", "")
	}
	var opts []string
	for _, text := range a.Opts {
		for one := range strings.SplitSeq(nextOption.ReplaceAllString(text, "\n$1"), "\n") {
			words, err := Words(one)
			if err != nil {
				add("rsync_opts", "`rsync_opts` "+err.Error(), "")
			}
			opts = append(opts, words...)
		}
	}
	a.Opts = opts
	return problems
}
