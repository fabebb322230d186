package action_test

import (
	"os"
	"testing"

	"moon/exec/exectest"
)

// TestMain gives every test the umask that expectations of modes assume.
func TestMain(m *testing.M) {
	exectest.SetUmask(0o022)
	os.Exit(m.Run())
}
