package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// listed is a file in FILES.json.
type listed struct {
	Name   string  `json:"name"`
	Type   string  `json:"ftype"`
	How    *string `json:"chksum_type"`
	SHA256 *string `json:"chksum_sha256"`
	Format int     `json:"format"`
}

// notBuilt are what is never a part of a collection, whatever its galaxy.yml says.
var notBuilt = []string{sourceFile, "galaxy.yaml", "*.pyc", "*.retry", ".git", "tests/output", manifestFile, filesFile}

// buildCollection makes an empty directory an installed collection from the directory of its sources.
func buildCollection(from, to string) error {
	if isFile(filepath.Join(from, manifestFile)) { // it was built
		return copyTree(from, to, func(string) bool { return false })
	}
	source := filepath.Join(from, sourceFile)
	if !isFile(source) {
		return errors.New("it is not a collection: it has neither galaxy.yml nor MANIFEST.json")
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	var ds diag.List
	v, _ := playbook.Document(&playbook.File{Name: sourceFile, Path: source, Text: text}, &ds)
	if ds.HasErrors() {
		return fmt.Errorf("%s:%d: %s", sourceFile, ds[0].Pos.Line, ds[0].Message)
	}
	info, ignored := infoOf(v)
	err = copyTree(from, to, func(name string) bool {
		return slices.ContainsFunc(append(ignored, notBuilt...), func(pattern string) bool {
			whole, err := doublestar.Match(pattern, name)
			base, errBase := doublestar.Match(pattern, path.Base(name))
			return err == nil && whole || errBase == nil && base
		})
	})
	if err != nil {
		return err
	}
	return writeManifest(to, info)
}

// infoOf is what galaxy.yml says of a collection, as MANIFEST.json has it, and the patterns of files that are not a part of it.
func infoOf(v playbook.Value) (info map[string]any, ignored []string) {
	info = map[string]any{"license_file": nil, "dependencies": map[string]string{}}
	for _, e := range v.Entries() {
		switch {
		case e.Key == "build_ignore":
			for _, item := range e.Value.Items() {
				ignored = append(ignored, item.Text())
			}
		case e.Key == "dependencies":
			needs := map[string]string{}
			for _, need := range e.Value.Entries() {
				needs[need.Key] = need.Value.Text()
			}
			info[e.Key] = needs
		case e.Value.Kind() == playbook.List:
			list := []string{}
			for _, item := range e.Value.Items() {
				list = append(list, item.Text())
			}
			info[e.Key] = list
		case e.Value.Kind() != playbook.Map && e.Value.Kind() != playbook.Null:
			info[e.Key] = e.Value.Text()
		}
	}
	return info, ignored
}

// writeManifest writes FILES.json and MANIFEST.json for the files of a directory.
func writeManifest(dir string, info map[string]any) error {
	how := "sha256"
	files := []listed{{Name: ".", Type: "dir", Format: 1}}
	err := walkTree(dir, func(name string, info fs.FileInfo) error {
		f := listed{Name: name, Type: "dir", Format: 1}
		if !info.IsDir() {
			sum, err := digestFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			f.Type, f.How, f.SHA256 = "file", &how, &sum
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(map[string]any{"files": files, "format": 1}, "", " ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	hexSum := hex.EncodeToString(sum[:])
	manifest, err := json.MarshalIndent(map[string]any{
		"collection_info":    info,
		"file_manifest_file": listed{filesFile, "file", &how, &hexSum, 1},
		"format":             1,
	}, "", " ")
	if err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(dir, filesFile), text, 0o644)
	return errors.Join(err, os.WriteFile(filepath.Join(dir, manifestFile), manifest, 0o644))
}
