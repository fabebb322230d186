package ansible

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// allProjects reads testdata/ansible-projects: directories as people have them. trial.txtar in each has the comment and what is
// wanted, as other trials do; the directory has the files.
func allProjects(t *testing.T) (all []*trial) {
	t.Helper()
	paths, err := filepath.Glob("testdata/ansible-projects/*/trial.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	for _, path := range paths {
		c := readTrial(t, path)
		dir := filepath.Dir(path)
		c.name, c.files = "project_"+filepath.Base(dir), map[string]string{}
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || file == path {
				return err
			}
			text, err := os.ReadFile(file)
			c.files[filepath.ToSlash(strings.TrimPrefix(file, dir+string(filepath.Separator)))] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}
