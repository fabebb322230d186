package ansible

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allProjects reads testdata/ansible-projects: directories as people have them. trial.txtar in each has the comment, as other trials
// do, and may have what is wanted; the directory has the files.
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

// writtenProjects are those whose answers are written down, so that nothing of Ansible is needed to look at them. The others are
// compared with ansible-playbook itself: see TestAnsibleReal.
func writtenProjects(t *testing.T) []*trial {
	t.Helper()
	return slices.DeleteFunc(allProjects(t), func(c *trial) bool { return len(c.want) == 0 })
}
