package cli

import (
	"testing"

	"moon/internal/pattern"
)

// TestPatterns compiles every pattern of moon: this package has all others.
func TestPatterns(t *testing.T) {
	if n := pattern.Check(); n < 100 {
		t.Errorf("there are %d patterns", n)
	}
}
