package fsys

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// contextAttribute is where the kernel keeps the SELinux context of a file.
const contextAttribute = "security.selinux"

// labelled reports whether this machine has SELinux switched on. Without it labels are neither looked at nor set, as with Ansible.
var labelled = sync.OnceValue(func() bool {
	_, err := os.Stat("/sys/fs/selinux/enforce")
	return err == nil
})

// contextOf is the context of a file that is open; "" if it has none.
func contextOf(fd int) string {
	buf := make([]byte, 256)
	n, err := unix.Getxattr(selfFD(fd), contextAttribute, buf)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(buf[:n]), "\x00")
}

// setContext gives a file that is open a context.
func setContext(fd int, context string) error {
	return unix.Setxattr(selfFD(fd), contextAttribute, append([]byte(context), 0), 0)
}
