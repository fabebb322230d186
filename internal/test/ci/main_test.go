package ci

import (
	"testing"

	"moon/internal/test/fakes"
)

func TestMain(m *testing.M) { fakes.RunSuite(m) }
