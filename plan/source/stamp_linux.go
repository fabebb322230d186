package source

import "syscall"

func changeTime(st *syscall.Stat_t) (sec, nsec int64) {
	return int64(st.Ctim.Sec), int64(st.Ctim.Nsec) //nolint:unconvert // 32 bits on some
}
