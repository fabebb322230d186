package pki

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"

	"golang.org/x/crypto/ssh"
)

// The formats of a public key.
const (
	PEM     = "PEM"
	OpenSSH = "OpenSSH"
)

// MarshalPublic is the text of a file with a public key.
func MarshalPublic(key crypto.PublicKey, format string) ([]byte, error) {
	if format == OpenSSH {
		of, err := ssh.NewPublicKey(key)
		if err != nil {
			return nil, errors.New("a key of this type has no format OpenSSH; use PEM")
		}
		return []byte(strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(of)), "\n")), nil
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// ParsePublic reads a file with a public key.
func ParsePublic(text []byte, format string) (crypto.PublicKey, error) {
	if format == OpenSSH {
		key, _, _, _, err := ssh.ParseAuthorizedKey(text)
		if err != nil {
			return nil, err
		}
		of, ok := key.(ssh.CryptoPublicKey)
		if !ok {
			return nil, errors.New("a key of this type is not supported")
		}
		return of.CryptoPublicKey(), nil
	}
	der, err := findBlock(text, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	return x509.ParsePKIXPublicKey(der)
}

// SamePublic reports whether two public keys are the same.
func SamePublic(a, b crypto.PublicKey) bool { return sameKey(a, b) }
