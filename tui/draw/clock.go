package draw

import (
	"fmt"
	"time"
)

// Clock is a duration of a scope or run: 00:21, 02:14, 1:02:03.
func Clock(d time.Duration) string {
	s := max(int(d/time.Second), 0)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// Took is a duration of a step: 0:31. What took no time says nothing.
func Took(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s <= 0:
		return ""
	case s >= 3600:
		return Clock(d)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Exact is a duration in a sentence: 0.4s, 3.2s, 2:13.
func Exact(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return Took(d)
}

// Precise is a duration to compare with another: 41.8s, 2:13.
func Precise(d time.Duration) string {
	if d >= 10*time.Second && d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return Exact(d)
}

// Count says how many of something there are: 1 step, 2 steps.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
