// Package sshtest gives tests other machines to reach by ssh: servers of this machine, on its loopback.
//
//	Start ──▶ sshd per connection, with keys, known hosts and a configuration of their own ──▶ Server: name, home, ways to break it
//
// Nothing of the user's is read or changed.
package sshtest
