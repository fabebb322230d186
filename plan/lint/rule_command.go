package lint

import (
	"slices"
	"strings"

	"moon/plan/playbook"
)

// commandInstead: an action knows whether there is something to do, and a command does it again.
var commandInstead = Rule{ID: "command-instead-of-module", About: "a command that an action does better", task: checkCommandInstead}

// actionsFor are programs and the actions that do their work.
var actionsFor = map[string]string{
	"apt": "apt", "apt-get": "apt", "aptitude": "apt", "yum": "dnf", "dnf": "dnf", "apk": "apk", "pacman": "pacman", "pip": "pip", "pip3": "pip",
	"npm": "npm", "curl": "get_url or uri", "wget": "get_url", "mkdir": "file, with state: directory",
	"rm": "file, with state: absent", "rmdir": "file, with state: absent",
	"touch": "file, with state: touch", "chmod": "file", "chown": "file", "chgrp": "file", "ln": "file, with state: link",
	"useradd": "user", "adduser": "user",
	"usermod": "user", "groupadd": "group", "tar": "unarchive", "unzip": "unarchive", "sed": "lineinfile or replace",
	"systemctl": "service", "service": "service",
	"hostnamectl": "hostname", "hostname": "hostname", "mount": "mount", "umount": "mount", "crontab": "cron",
	"modprobe": "modprobe", "sysctl": "sysctl",
	"git": "git", "rsync": "synchronize", "iptables": "iptables", "cp": "copy, with remote_src: true",
}

// only are the first arguments with which a program is meant; with others it only says something.
var only = map[string][]string{
	"git":         {"clone", "pull", "checkout"},
	"systemctl":   {"start", "stop", "restart", "reload", "enable", "disable", "mask", "unmask", "daemon-reload"},
	"hostnamectl": {"set-hostname", "hostname"}, "apt": {"install", "remove", "update", "upgrade"},
	"apt-get": {"install", "remove", "update", "upgrade"},
	"pip":     {"install", "uninstall"}, "pip3": {"install", "uninstall"}, "npm": {"install", "ci"}, "sed": {"-i"},
	"yum": {"install", "remove", "update"}, "dnf": {"install", "remove", "update"},
	"tar": {"-x", "-xf", "-xzf", "xf", "xzf", "-xvf", "-xzvf", "xvf", "xzvf"},
}

func checkCommandInstead(r *report, t *playbook.Task) {
	text := commandText(t)
	words := strings.Fields(text)
	// What several commands do together has no action.
	if !isAction(t, "command", "shell") || len(words) < 2 || strings.ContainsAny(text, "|;&<>\n`") || strings.Contains(text, "$(") {
		return
	}
	program := words[0][strings.LastIndexByte(words[0], '/')+1:]
	action, known := actionsFor[program]
	if first := only[program]; !known || first != nil && !slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains(first, w)
	}) {
		return
	}
	r.add(t.ActionPos, len(t.ActionKey), nil, "use "+action, "`"+program+"` does its work in every run, where an action sees what is done already")
}
