package remote

import (
	"fmt"
	"strconv"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
)

// UnreachableError says that there is no way to a host, and that nothing was tried there.
type UnreachableError struct {
	Host  exec.Host
	Fatal bool // it will not pass by itself: a key, a name, a configuration
	Said  string
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached: %s", hostName(e.Host), e.Said)
}

// hostName is a host as a person knows it, and where it is.
func hostName(h exec.Host) string {
	where := h.Address
	if where == "" {
		where = h.Name
	}
	if h.Port != 0 {
		where += ":" + strconv.Itoa(h.Port)
	}
	if where == h.Name {
		return h.Name
	}
	return h.Name + " (" + where + ")"
}

func (e *UnreachableError) toResult() exec.Result {
	r := exec.Result{Outcome: events.Unreachable, Class: fault.Transient, Error: e.Error()}
	if e.Fatal {
		r.Class = fault.Fatal
	}
	return r
}
