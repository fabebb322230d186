package bench

import (
	"os"
	"testing"
)

// TestMain runs at the root of the project, which the benchmarks build.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
