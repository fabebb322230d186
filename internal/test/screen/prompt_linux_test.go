package screen

import (
	"os"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestPasswordTypedAhead types a password before moon asks for it, and half of it: neither is taken for the answer, and when the question is
// there the terminal shows nothing any more.
func TestPasswordTypedAhead(t *testing.T) {
	c, dir := fakes.OpenPrompt(t, "- {name: word, prompt: the word, private: true}")
	fakes.AwaitFile(t, dir+"/asked")
	c.Press("tooearly\rhalfof", "tooearly", "halfof") // shown by the terminal itself
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.See("the word:")
	if c.Echoes() {
		t.Error("the question is there, and the terminal shows what is typed")
	}
	c.Press("swordfish\r")
	if code, left := c.End(); code != 0 || strings.Contains(left, "swordfish") || strings.Count(left, "tooearly") != 1 || strings.Count(left, "halfof") != 1 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if given, err := os.ReadFile(dir + "/given"); err != nil || string(given) != "swordfish\n" {
		t.Errorf("the answer is %q, %v", given, err)
	}
	c.CheckRestored()
}
