package fsys

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"io"

	"moon/exec/fault"
)

// Hashes are the checksums that playbooks name.
var Hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// Sum is the hash of the file that is at the place.
func (p *Anchored) Sum(ctx context.Context, seen Entry, algorithm string) (string, error) {
	f, err := p.openBy(seen, p.openUnnoticed)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	return SumOf(ctx, f, algorithm)
}

// SumOf returns the checksum of what a reader gives, in hex. It ends early if the step is stopped.
func SumOf(ctx context.Context, f io.Reader, algorithm string) (string, error) {
	h := Hashes[algorithm]()
	buf := make([]byte, CopySize)
	for {
		if fault.Stopped(ctx) != "" {
			return "", context.Cause(ctx)
		}
		n, err := f.Read(buf)
		_, _ = h.Write(buf[:n]) // a hash does not fail
		switch {
		case ended(err):
			return hex.EncodeToString(h.Sum(nil)), nil
		case err != nil:
			return "", err
		}
	}
}
