package fsys

import (
	"errors"

	"golang.org/x/sys/unix"
)

// withFlags calls do with a descriptor that the attributes can be asked of: one that only stands for a place has none.
func withFlags(fd int, do func(fd int) error) error {
	own, err := unix.Open(selfFD(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(own) }()
	err = do(own)
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return errNoFlags
	}
	return err
}

func readFlags(fd int) (bits uint32, err error) {
	err = withFlags(fd, func(fd int) error {
		bits, err = unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
		return err
	})
	return bits, err
}

// readVersion is readFlags with the number that some file systems give a file when it comes to be.
func readVersion(fd int) (bits, version uint32, err error) {
	err = withFlags(fd, func(fd int) error {
		if bits, err = unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS); err != nil {
			return err
		}
		version, err = unix.IoctlGetUint32(fd, fsIocGetVersion)
		return err
	})
	return bits, version, err
}

func writeFlags(fd int, bits uint32) error {
	return withFlags(fd, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(bits)) })
}

// fsIocGetVersion is _IOR('v', 1, long), made of FS_IOC_GETFLAGS, _IOR('f', 1, long), as the layout of the number differs between machines.
const fsIocGetVersion = unix.FS_IOC_GETFLAGS&^0xff00 | 'v'<<8
