package plugin_test

import (
	"os"
	"testing"

	"moon/exec/exectest"
)

func TestMain(m *testing.M) {
	os.Setenv("PATH", exectest.PreferSystem(os.Getenv("PATH"), 0))
	os.Exit(m.Run())
}
