package remote

import (
	"os"
	"syscall"

	"moon/exec"
)

// Shell is the user's own shell where a job runs, as the job's user. Root, who asks nobody, starts it as that one; otherwise
// it is behind sudo or the like, which may ask for a password on the terminal. On
// another host it is the shell of who logs in there, over a connection of its own.
func Shell(job *exec.Job, set map[string]string, notice []string) (*exec.Foreground, error) {
	if job.Host != nil {
		prefix, err := (&Pool{}).prefixOn(*job.Host, job.Become, "")
		if err != nil {
			return nil, err
		}
		return exec.ShellOf(job, exec.ShellAs{Set: set, Notice: notice, Prefix: prefix, There: true}), nil
	}
	if job.Become == nil {
		return exec.ShellOf(job, exec.ShellAs{Set: set, Notice: notice}), nil
	}
	as := exec.ShellAs{Set: set, Notice: notice}
	if Method(*job.Become) != "" {
		as.Prefix = Prefix(*job.Become)
		return exec.ShellOf(job, as), nil
	}
	a, err := findAccount(job.Become.User)
	if err != nil {
		return nil, err
	}
	as.Env = append(keptEnv(os.Environ()), "HOME="+a.home, "USER="+job.Become.User, "LOGNAME="+job.Become.User)
	as.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.groups}
	return exec.ShellOf(job, as), nil
}
