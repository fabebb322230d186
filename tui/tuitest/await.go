package tuitest

import (
	"strings"
	"testing"
	"time"
)

// AwaitTexts waits until all of the texts are on a screen at once.
func AwaitTexts(tb testing.TB, patience time.Duration, screen func() string, texts ...string) {
	tb.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		// One look for all of them: between two the program may have drawn something else.
		shown, missing := screen(), ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		switch {
		case missing == "":
			return
		case time.Now().After(end):
			tb.Fatalf("never shown: %q\n%s", missing, shown)
		}
	}
}
