package plan

import "testing"

// An item is named by a name that holds it as a word, not as a part of one.
func TestLabelNamesTheItem(t *testing.T) {
	for _, tt := range []struct{ name, item, label string }{
		{"greet each", "a", "greet each (a)"},
		{"greet a", "a", "greet a"},
		{"each a", "a", "each a"},
		{"install vim-tiny", "vim", "install vim-tiny"},
		{"install vimdiff", "vim", "install vimdiff (vim)"},
		{"link /srv/a", "/srv/a", "link /srv/a"},
		{"link /srv/ab", "/srv/a", "link /srv/ab (/srv/a)"},
		{"grüße", "ü", "grüße (ü)"},
		{"step 10", "1", "step 10 (1)"},
		{"step\xff", "\xff", "step\xff"},
		{"\xffstep", "\xffs", "\xffstep (\xffs)"},
	} {
		s := Step{Loop: &LoopContext{Label: tt.item}}
		if got := s.Label(tt.name); got != tt.label {
			t.Errorf("%q for %q is called %q, want %q", tt.name, tt.item, got, tt.label)
		}
	}
}
