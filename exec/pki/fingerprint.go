package pki

import (
	"crypto"
	"crypto/md5" // as results have it
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
)

// hashes are the digests that results have of a key.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha3_224": func() hash.Hash { return sha3.New224() }, "sha3_256": func() hash.Hash { return sha3.New256() },
	"sha3_384": func() hash.Hash { return sha3.New384() }, "sha3_512": func() hash.Hash { return sha3.New512() },
	"blake2b": func() hash.Hash { h, _ := blake2b.New512(nil); return h }, // without a key it cannot fail
	"blake2s": func() hash.Hash { h, _ := blake2s.New256(nil); return h },
}

// Fingerprints are digests of a public key, as two digits with colons between.
func Fingerprints(key crypto.PublicKey) (map[string]any, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for name, newHash := range hashes {
		h := newHash()
		_, _ = h.Write(der) // a hash does not fail
		all[name] = colons(h.Sum(nil))
	}
	for name, shake := range map[string]*sha3.SHAKE{"shake_128": sha3.NewSHAKE128(), "shake_256": sha3.NewSHAKE256()} {
		sum := make([]byte, 32)
		_, _ = shake.Write(der)
		_, _ = shake.Read(sum)
		all[name] = colons(sum)
	}
	return all, nil
}

func colons(sum []byte) string {
	digits := hex.EncodeToString(sum)
	var words []string
	for i := 0; i < len(digits); i += 2 {
		words = append(words, digits[i:i+2])
	}
	return strings.Join(words, ":")
}
