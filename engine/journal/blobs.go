package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"moon/events/rundir"
)

// Blobs are the large values of a run, each in a file whose name is the digest of its text. The zero value has none.
type Blobs struct {
	disk Disk
	dir  string
}

// BlobsBeside are those of the journal at a path.
func (d Disk) BlobsBeside(path string) Blobs {
	return Blobs{d, rundir.Blobs(filepath.Dir(path))}
}

// Store keeps a text, certain to stay when it returns, and gives its name. It may be called from several goroutines.
func (b Blobs) Store(text []byte) (string, error) {
	// The name is the digest, so the same value is stored once, and damage shows.
	sum := sha256.Sum256(text)
	name := hex.EncodeToString(sum[:])
	if err := b.disk.MkdirAll(b.dir); err != nil {
		return "", fmt.Errorf("store value: %w", err)
	}
	if err := b.disk.Put(filepath.Join(b.dir, name), text); err != nil {
		return "", fmt.Errorf("store value: %w", err)
	}
	return name, nil
}

// Load gives the text that has a name. One that is not what was stored is an error.
func (b Blobs) Load(name string) ([]byte, error) {
	if !IsBlob(name) || b.dir == "" {
		return nil, errors.New("read value: it is not in the directory of the journal")
	}
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return nil, fmt.Errorf("read value: %w", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != name {
		return nil, fmt.Errorf("read value: %s was changed", name)
	}
	return text, nil
}

// IsBlob reports whether a text can be the name of a blob.
func IsBlob(name string) bool {
	digest, err := hex.DecodeString(name)
	return err == nil && len(digest) == sha256.Size && hex.EncodeToString(digest) == name
}
