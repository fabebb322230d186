//go:build !linux

package exec

import (
	"os"
	"syscall"
)

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func spawn(path string, argv []string, attr *os.ProcAttr) (*child, error) {
	proc, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	return &child{proc: proc, exited: make(chan struct{})}, nil
}

func (c *child) await() {
	c.state, c.err = c.proc.Wait()
	close(c.exited)
}

// gone asks whether the process has ended. It must be watched for that.
func (c *child) gone() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

func (c *child) reap() (*os.ProcessState, error) { return c.state, c.err }

func growPipe(*os.File) {}
