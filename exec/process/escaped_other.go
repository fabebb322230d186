//go:build !linux

package process

import "syscall"

// cgroup is a control group, which only Linux has.
type cgroup struct{}

func (c *child) enterGroup(*syscall.SysProcAttr) {}
func (c *child) releaseGroup()                   {}

// killEscaped would find what has left the group; here nothing tells whose it is.
func (c *child) killEscaped() []orphan { return nil }

func (c *child) listLeft() []orphan { return nil }

// EndRun lets go of what was kept for the processes of a run.
func EndRun(string) {}

// EndLeft would kill what a moon that died has left running; here it cannot be found.
func EndLeft(string, []string) string { return "" }

func killMarked(string, func(int) bool) []orphan { return nil }
