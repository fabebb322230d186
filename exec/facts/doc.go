// Package facts finds out what is known of this machine, without changing it: Local and Volatile start no process, what is
// Costly asks a program when it is wanted, Gather gives what Ansible's setup gives.
//
//	/proc, /etc, /sys ──▶ survey ──▶ names and values (plain data)
//
// Facts of another machine are found out there, by the agent.
package facts
