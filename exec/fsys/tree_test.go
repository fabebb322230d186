package fsys

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// TestMakingDirectoriesAtOnce makes directories below one that is not there, as hosts do that are all this machine: none may find
// that another was faster.
func TestMakingDirectoriesAtOnce(t *testing.T) {
	w := Wanted{Mode: 0o755, UID: -1, GID: -1}
	for round := range 30 {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range 8 {
			all.Go(func() {
				<-begin
				name := fmt.Sprintf("above/srv/web%d", i/2) // two of them make the same
				if err := MakeDirsAtOnce(root, name, w, w); err != nil {
					t.Errorf("round %d, %s: %v", round, name, err)
				}
			})
		}
		close(begin)
		all.Wait()
		for i := range 4 {
			if _, err := root.Stat(fmt.Sprintf("above/srv/web%d", i)); err != nil {
				t.Error(err)
			}
		}
		if err := root.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
