package sshargs_test

import (
	"slices"
	"testing"

	"moon/exec/sshargs"
)

func TestSteering(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", ""},
		{"-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null", ""},
		{"-C -o ControlMaster=auto -o ControlPersist=60s -p 2222 -J bastion", ""},
		{`-o "ServerAliveInterval 30"`, ""},
		{"-oProxyJump=bastion", ""},
		{`-o ProxyCommand="ssh -W %h:%p bastion"`, "ProxyCommand"},
		{"-oproxycommand=evil", "proxycommand"},
		{"-o 'ProxyCommand evil'", "ProxyCommand"},
		{"-o ForwardAgent=yes", "ForwardAgent"},
		{"-o PermitLocalCommand=yes -o LocalCommand=evil", "PermitLocalCommand"},
		{"-o KnownHostsCommand=evil", "KnownHostsCommand"},
		{"-F ./config", "-F"},
		{"-F./config -C", "-F./config"},
		{"-F /dev/null -o ControlMaster=auto", ""}, // it only keeps ssh from its usual ones
		{"-Fnone -A", "-A"},
		{"-F none -F ./config", "-F"},
		{"-F", "-F"},
		{"-I ./evil.so", "-I"},
		{"-A", "-A"},
		{"-AC -o Compression=yes", "-AC"},
		{"-A -o ForwardX11=yes -o ProxyCommand=evil", "ProxyCommand"}, // what executes counts before what lends
		{"$OPTIONS", "$OPTIONS"},
		{"-o 'ProxyCommand", `"-o 'ProxyCommand"`},
		{"-o", ""},
	} {
		if got := sshargs.Steering(tt.args); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.want)
		}
	}
}

func TestFiles(t *testing.T) {
	for args, want := range map[string][]string{
		"":                             nil,
		"-F /dev/null -C":              nil,
		"-F ./config -o Port=1":        {"./config"},
		"-Fone -F two -A -F":           {"one", "two"},
		"-o ProxyCommand='ssh -F x y'": nil,
	} {
		if got := sshargs.Files(args); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
