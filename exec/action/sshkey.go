package action

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// newKey is a key for SSH that a user shall have.
type newKey struct {
	kind       string
	bits       int
	file       string // relative to the home, or absolute
	comment    string
	passphrase string
	there      bool // leave it
}

// planKey looks whether the user has the key. Nil: it need not have one. Home is "" where only useradd knows it.
func (s *userStep) planKey(home string) (*newKey, error) {
	if !s.args.GenerateKey {
		return nil, nil
	}
	k := &newKey{
		kind: s.args.KeyType, bits: s.args.KeyBits, file: s.args.KeyFile, comment: s.args.KeyComment,
		passphrase: s.args.KeyPassphrase,
	}
	if k.bits == 0 {
		k.bits = map[string]int{"rsa": 3072, "ecdsa": 256, "ed25519": 256}[k.kind]
	}
	if k.file == "" {
		k.file = ".ssh/id_" + k.kind
	}
	if k.comment == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		k.comment = "ansible-generated on " + host
	}
	path := k.file
	if !filepath.IsAbs(path) {
		path = filepath.Join(home, path)
	}
	// useradd chooses the home, so whether the key is there is known only after it.
	if !filepath.IsAbs(path) {
		return k, nil
	}
	s.c.Fields["ssh_key_file"] = path
	// A new key is made whatever is there.
	if s.args.Force {
		return k, nil
	}
	switch _, err := os.Lstat(path); {
	case err == nil:
		k.there = true
		return k, k.describeKey(path, s.c.Fields)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return k, nil
}

func (k *newKey) describeChange() []string {
	if k == nil || k.there {
		return nil
	}
	return []string{"new SSH key " + k.file}
}

// describeKey adds to a result what the public key is. A key without one is left so.
func (k *newKey) describeKey(path string, fields map[string]any) error {
	text, err := os.ReadFile(path + ".pub")
	if err != nil {
		return nil //nolint:nilerr // the private key is what was asked for
	}
	fields["ssh_public_key"] = strings.TrimSpace(string(text))
	if key, comment, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		fields["ssh_fingerprint"] = fmt.Sprintf("%d %s %s (%s)", keySize(key), ssh.FingerprintSHA256(key), comment, keyKind(key))
	}
	return nil
}

// keySize is the size of a key in bits.
func keySize(key ssh.PublicKey) int {
	inner, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return 0
	}
	switch k := inner.CryptoPublicKey().(type) {
	case *rsa.PublicKey:
		return k.N.BitLen()
	case *ecdsa.PublicKey:
		return k.Curve.Params().BitSize
	}
	return 256 // of ed25519
}

func keyKind(key ssh.PublicKey) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(key.Type(), "ssh-"), "-")
	return strings.ToUpper(kind)
}

// makeKey makes the key. The directory it goes to may be the user's, who could put a link in its place: nothing is written
// outside of the directory that was opened, and through no link.
func (k *newKey) makeKey(u *account, fields map[string]any) error {
	if k == nil || k.there {
		return nil
	}
	private, public, err := k.generateKey()
	if err != nil {
		return err
	}
	base, name := u.home, k.file
	// Without a home yet, path is relative to it; useradd has chosen it by now.
	if rest, inside := strings.CutPrefix(name, strings.TrimSuffix(base, "/")+"/"); inside {
		name = rest
	}
	if filepath.IsAbs(name) {
		base, name = filepath.Split(name)
	}
	dir, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing is written through it
	// What is above the file may be missing in a home that was just made.
	if err := makeOwned(dir, filepath.Dir(name), u); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
		mode fs.FileMode
	}{{name, private, 0o600}, {name + ".pub", public, 0o644}} {
		if err := writeOwned(dir, f.name, f.data, f.mode, u); err != nil {
			return err
		}
	}
	path := filepath.Join(base, name)
	fields["ssh_key_file"] = path
	return k.describeKey(path, fields)
}

// makeOwned makes a directory and those above that are not there, for their owner alone.
func makeOwned(dir *os.Root, path string, u *account) error {
	if path == "." {
		return nil
	}
	if err := makeOwned(dir, filepath.Dir(path), u); err != nil {
		return err
	}
	// Looking first would leave a moment for a link. Mkdir follows none in the last part of the path.
	switch err := dir.Mkdir(path, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return dir.Lchown(path, u.uid, u.gid)
}

// writeOwned writes a file anew, for its owner from the start.
func writeOwned(dir *os.Root, name string, data []byte, mode fs.FileMode, u *account) error {
	// The name is freed first, so that O_EXCL holds: a link or a file of the user is never written through.
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	// Only the descriptor is touched: the name may lead elsewhere already. The mode is last, as a change of owner clears bits.
	return errors.Join(err, f.Chown(u.uid, u.gid), f.Chmod(mode), f.Close())
}

// generateKey makes the two halves, as their files hold them.
func (k *newKey) generateKey() (private, public []byte, err error) {
	var key crypto.Signer
	switch k.kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		curve := map[int]elliptic.Curve{256: elliptic.P256(), 384: elliptic.P384(), 521: elliptic.P521()}[k.bits]
		key, err = ecdsa.GenerateKey(curve, rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, k.bits)
	}
	if err != nil {
		return nil, nil, err
	}
	var block *pem.Block
	if k.passphrase == "" {
		block, err = ssh.MarshalPrivateKey(key, k.comment)
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, k.comment, []byte(k.passphrase))
	}
	if err != nil {
		return nil, nil, err
	}
	half, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		return nil, nil, err
	}
	// ssh-keygen writes the comment behind the key, which the library does not.
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(half))) + " " + k.comment + "\n"
	return pem.EncodeToMemory(block), []byte(line), nil
}
