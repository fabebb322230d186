package fault

import (
	"context"
	"errors"
)

// Stop is why a running attempt has to end. The caller cancels the attempt's context with one as the cause; any
// other cause counts as Interrupt, a deadline as Expired.
type Stop string

// The reasons to stop. An interrupted process gets SIGINT, SIGTERM after a fifth of the grace and SIGKILL at its end,
// an expired one SIGTERM and then SIGKILL; the signals go to its whole process group.
const (
	Interrupt Stop = "interrupted"
	Expired   Stop = "timed out"
)

func (s Stop) Error() string { return string(s) }

// Stopped is why the context has ended, or "".
func Stopped(ctx context.Context) Stop {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return ""
	case errors.Is(cause, Expired), errors.Is(cause, context.DeadlineExceeded):
		return Expired
	}
	return Interrupt
}
