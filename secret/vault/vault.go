package vault

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const magic = "$ANSIBLE_VAULT;"

const (
	rounds  = 10_000
	keySize = 32
	maxSalt = 1 << 10 // bytes; Ansible takes 32

	saltSize   = 32
	lineLength = 80
)

// Password opens vaults. The ID is the label of those that it was given for; "" and default are for any.
type Password struct {
	ID   string
	Text string
}

// Errors that a caller words with the way out.
var (
	ErrNoPassword = errors.New("it is encrypted, and no password was given")
	ErrWrong      = errors.New("none of the passwords opens it")
)

// Is reports whether a text is encrypted.
func Is(text []byte) bool { return bytes.HasPrefix(text, []byte(magic)) }

// envelope is what an encrypted text is made of.
type envelope struct {
	label                 string
	salt, mac, ciphertext []byte
}

// Decrypt gives the text that is encrypted. Passwords with the vault's label are tried first, then the others. The error says
// what is wrong with the text, or is ErrNoPassword or ErrWrong.
func Decrypt(text []byte, passwords []Password) ([]byte, error) {
	plain, _, err := Open(text, passwords)
	return plain, err
}

// Open is Decrypt that also says which password it was, with the label that the vault has.
func Open(text []byte, passwords []Password) (plain []byte, with Password, err error) {
	e, err := open(text)
	if err != nil {
		return nil, with, err
	}
	if len(passwords) == 0 {
		return nil, with, ErrNoPassword
	}
	for _, labelled := range []bool{true, false} {
		for _, p := range passwords {
			if (p.ID == e.label) != labelled {
				continue
			}
			if plain, err := e.decrypt(p.Text); !errors.Is(err, ErrWrong) {
				return plain, Password{ID: e.label, Text: p.Text}, err
			}
		}
	}
	return nil, with, ErrWrong
}

// open takes a text apart.
func open(text []byte) (e envelope, err error) {
	header, body, _ := strings.Cut(string(text), "\n")
	parts := strings.Split(strings.TrimSpace(header), ";")
	if parts[0]+";" != magic || len(parts) < 3 {
		return e, errors.New("its first line is not that of a vault")
	}
	switch version := parts[1]; {
	case version == "1.2" && len(parts) > 3:
		e.label = parts[3]
	case version != "1.1" && version != "1.2":
		return e, fmt.Errorf("it is a vault of version %q; moon reads 1.1 and 1.2", version)
	}
	if parts[2] != "AES256" {
		return e, fmt.Errorf("it is encrypted with %q; moon reads AES256", parts[2])
	}
	inner, err := unhex(body)
	if err != nil {
		return e, err
	}
	// Salt, checksum and text, each in hex once again inside.
	fields := strings.Split(string(inner), "\n")
	if len(fields) != 3 {
		return e, errDamaged
	}
	for i, to := range []*[]byte{&e.salt, &e.mac, &e.ciphertext} {
		if *to, err = unhex(fields[i]); err != nil {
			return e, err
		}
	}
	if len(e.salt) == 0 || len(e.salt) > maxSalt || len(e.mac) != sha256.Size || len(e.ciphertext) == 0 ||
		len(e.ciphertext)%aes.BlockSize != 0 {
		return e, errDamaged
	}
	return e, nil
}

var errDamaged = errors.New("the vault is damaged: it is not whole")

// unhex reads hexadecimal digits, whatever white space is between them.
func unhex(text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, errDamaged
	}
	return b, nil
}

func (e envelope) decrypt(password string) ([]byte, error) {
	keys, err := derive(password, e.salt)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, keys[keySize:2*keySize])
	mac.Write(e.ciphertext)
	// Compared before decrypting, and in constant time.
	if !hmac.Equal(mac.Sum(nil), e.mac) {
		return nil, ErrWrong
	}
	block, err := aes.NewCipher(keys[:keySize])
	if err != nil {
		return nil, fmt.Errorf("it cannot be decrypted: %w", err)
	}
	plain := make([]byte, len(e.ciphertext))
	cipher.NewCTR(block, keys[2*keySize:]).XORKeyStream(plain, e.ciphertext)
	// The last byte of the padding is its length.
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > aes.BlockSize || !bytes.Equal(plain[len(plain)-padding:], bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, errDamaged
	}
	return plain[:len(plain)-padding], nil
}

// Encrypt encrypts a text with a password, and with its label if it has one. Each time the result is another, as the salt is.
func Encrypt(text []byte, with Password) ([]byte, error) {
	header := magic + "1.1;AES256"
	if with.ID != "" && with.ID != "default" {
		if strings.ContainsAny(with.ID, ";\r\n") {
			return nil, fmt.Errorf("the label %q holds a character that ends a label", with.ID)
		}
		header = magic + "1.2;AES256;" + with.ID
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails
	keys, err := derive(with.Text, salt)
	if err != nil {
		return nil, err
	}
	padding := aes.BlockSize - len(text)%aes.BlockSize
	sealed := append(bytes.Clone(text), bytes.Repeat([]byte{byte(padding)}, padding)...)
	block, err := aes.NewCipher(keys[:keySize])
	if err != nil {
		return nil, fmt.Errorf("it cannot be encrypted: %w", err)
	}
	cipher.NewCTR(block, keys[2*keySize:]).XORKeyStream(sealed, sealed)
	mac := hmac.New(sha256.New, keys[keySize:2*keySize])
	mac.Write(sealed)
	body := hex.EncodeToString(fmt.Appendf(nil, "%x\n%x\n%x", salt, mac.Sum(nil), sealed))
	out := bytes.NewBufferString(header)
	for ; body != ""; body = body[min(lineLength, len(body)):] {
		out.WriteString("\n" + body[:min(lineLength, len(body))])
	}
	out.WriteString("\n")
	return out.Bytes(), nil
}

// derive makes the key of the cipher, that of the MAC, and the first counter.
func derive(password string, salt []byte) ([]byte, error) {
	keys, err := pbkdf2.Key(sha256.New, password, salt, rounds, 2*keySize+aes.BlockSize)
	if err != nil {
		return nil, fmt.Errorf("it cannot be decrypted: %w", err)
	}
	return keys, nil
}
