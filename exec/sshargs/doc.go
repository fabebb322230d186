// Package sshargs judges arguments of ssh that a playbook or a setting gives: whether they may have it do more than connect.
//
//	"-o ProxyCommand=…" ──Steering──▶ "ProxyCommand"    "-A" ──Steering──▶ "-A" ──Lends──▶ true
package sshargs
