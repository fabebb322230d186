package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// swapped is a plugin whose every step and question appends a word to a log: one-shot, and one that lives as long as the run. Both are as
// long whatever the word is, and find a neighbour.
func swapped(word string) map[string]string {
	return map[string]string{
		"once": `#!/bin/sh
. "$(dirname "$0")/words.sh"
echo ` + word + ` $1 >>"$LOG"
[ "$1" = describe ] && echo '{"protocol": 1, "capabilities": [{"kind": "execute", "name": "once"}]}' && exit
echo '{"status": "changed"}'
`,
		"long": `#!/bin/sh
. "$(dirname "$0")/words.sh"
echo ` + word + ` start >>"$LOG"
while read -r line; do
	id=${line#*'"id":'}
	id=${id%%,*}
	case $line in
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocol":1,"capabilities":[{"kind":"execute","name":"long"}]}}' ;;
	*) echo ` + word + ` step >>"$LOG"; echo '{"jsonrpc":"2.0","id":'$id',"result":{"status":"changed"}}' ;;
	esac
done
`,
	}
}

// TestRacePluginSwapped swaps plugins that are trusted for others while moon looks for them, asks them and runs them: by another file of
// the name, by writing into the file, and by another directory. What is not trusted never runs, and what was trusted runs whole. ASSAULT=all
// plays 150 rounds.
func TestRacePluginSwapped(t *testing.T) {
	rounds := assault.Rounds(15, 150)
	assault.Tried(t, "trusted plugins swapped", rounds)
	started := 0
	for n, swap := range []func(dir string, round int) error{
		func(dir string, round int) error { // another file
			for _, name := range []string{"once", "long"} {
				with := filepath.Join(dir, "new")
				if err := os.WriteFile(with, []byte(swapped([]string{"good", "evil"}[round%2])[name]), 0o755); err != nil {
					return err
				}
				if err := os.Rename(with, filepath.Join(dir, "plugins", name)); err != nil {
					return err
				}
			}
			return nil
		},
		func(dir string, round int) error { // other bytes of the same length in it
			for _, name := range []string{"once", "long"} {
				f, err := os.OpenFile(filepath.Join(dir, "plugins", name), os.O_WRONLY, 0)
				if err != nil {
					continue // it is being run, as the old one was by its name
				}
				_, err = f.WriteString(swapped([]string{"good", "evil"}[round%2])[name])
				if err := f.Close(); err != nil {
					return err
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		func(dir string, _ int) error { // another directory
			for _, names := range [][2]string{{"plugins", "aside"}, {"others", "plugins"}, {"plugins", "others"}, {"aside", "plugins"}} {
				if err := os.Rename(filepath.Join(dir, names[0]), filepath.Join(dir, names[1])); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		dir := t.TempDir()
		log := filepath.Join(dir, "log")
		t.Setenv("LOG", log)
		t.Setenv("TMPDIR", t.TempDir())
		for sub, word := range map[string]string{"plugins": "good", "others": "evil"} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range swapped(word) {
				if err := os.WriteFile(filepath.Join(dir, sub, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, sub, "words.sh"), []byte("# nothing\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "playbook.yml"), []byte("- once: {}\n- long: {}\n- once: {}\n- long: {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		moon := fakes.MoonIn(t, dir)
		if out, ok := moon("plugin", "trust", "plugins/once", "plugins/long"); !ok {
			t.Fatal(out)
		}
		if out, ok := moon("run", "playbook.yml"); !ok {
			t.Fatal(out)
		}
		stop, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					ended <- nil
					return
				default:
				}
				if err := swap(dir, i); err != nil {
					ended <- err
					return
				}
			}
		}()
		succeeded := 0
		for range rounds / 3 {
			if _, ok := moon("run", "playbook.yml"); ok {
				succeeded++
			}
		}
		close(stop)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if evil := strings.Count(string(text), "evil"); evil > 0 {
			t.Errorf("way %d: what nobody trusts ran %d times in %d rounds", n, evil, rounds/3)
		}
		began := strings.Count(string(text), "good")
		if whole := 2 + 2 + 1 + 2; began < (succeeded+1)*whole { // what each is asked, the steps of one, the start and steps of the other
			t.Errorf("way %d: %d words of at least %d\n%s", n, began, (succeeded+1)*whole, text)
		}
		started += began
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("way %d: %v are left, %v", n, left, err)
		}
	}
	fmt.Fprintf(t.Output(), "%d rounds, %d times a trusted plugin ran\n", rounds, started)
}
