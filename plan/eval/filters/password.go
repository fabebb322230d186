package filters

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-crypt/x/bcrypt"
	"github.com/go-crypt/x/crypt"
	"github.com/go-crypt/x/yescrypt"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// passwordHash is one way in which /etc/shadow keeps passwords.
type passwordHash struct {
	id     string // as in $id$salt$hash
	rounds int    // unless the playbook says how many; 0: it has none
	least  int    // rounds
	most   int
	salt   int  // letters of one: the most, or exactly so many
	exact  bool // it has all of them
	make   func(password, salt, id string, rounds int) (string, error)
}

var passwordHashes = map[string]*passwordHash{
	"sha512":   {id: "6", rounds: 656000, least: minRounds, most: maxRounds, salt: maxSalt, make: shaCrypt(sha512.New)},
	"sha256":   {id: "5", rounds: 535000, least: minRounds, most: maxRounds, salt: maxSalt, make: shaCrypt(sha256.New)},
	"yescrypt": {id: "y", salt: maxSalt, make: yesCrypt},
	"md5":      {id: "1", salt: 8, make: md5Crypt},
	"blowfish": {id: "2b", rounds: 12, least: 4, most: 20, salt: bcrypt.EncodedSaltSize, exact: true, make: bCrypt},
}

// hashAliases are the names that passlib has for some.
var hashAliases = map[string]string{"sha512_crypt": "sha512", "sha256_crypt": "sha256", "md5_crypt": "md5", "bcrypt": "blowfish"}

// blowfishIDs are what bcrypt is called: the same algorithm, for passwords without zeros.
var blowfishIDs = []string{"2a", "2b", "2y"}

const (
	minRounds   = 1000 // what crypt(3) takes fewer for
	maxRounds   = 5_000_000
	maxSalt     = 16 // what crypt(3) reads of one
	saltLetters = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	yescryptCost = "j9T" // libxcrypt's own
)

// filterPasswordHash gives a password in the form that /etc/shadow keeps. It needs a salt: one that is made up would make
// another plan of the same files. In plays, where chance is drawn when a task runs, it may be of chance.
func filterPasswordHash(c *call.Input) (any, error) {
	password, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	name := c.ArgText(0, "sha512")
	h := passwordHashes[cmp.Or(hashAliases[name], name)]
	if h == nil {
		return nil, value.Errorf(value.TypeError, "", "knows sha512, sha256, yescrypt, blowfish and md5, not `%s`", name)
	}
	salt, err := saltOf(c, h, name)
	if err != nil {
		return nil, err
	}
	rounds, err := c.ArgInt(3, h.rounds)
	if err != nil {
		return nil, err
	}
	switch {
	case h.rounds == 0 && rounds != 0:
		return nil, value.Errorf(value.TypeError, "", "has no rounds with %s", name)
	case h.rounds > 0 && (rounds < h.least || rounds > h.most):
		return nil, value.Errorf(value.TypeError, "", "needs between %d and %d rounds", h.least, h.most)
	}
	id := h.id
	if h.exact { // for others `ident` means nothing, as with Ansible
		if id = c.ArgText(4, id); !slices.Contains(blowfishIDs, id) {
			return nil, value.Errorf(value.TypeError, "", "knows the idents %s, not `%s`", strings.Join(blowfishIDs, ", "), id)
		}
	}
	if strings.ContainsRune(password, 0) {
		return nil, value.Errorf(value.TypeError, "", "cannot take a password with a zero byte")
	}
	// Shortened behind the cache, which both dialects share.
	made, err := hashed(h, password, salt, id, rounds)
	return formOf(c.Shared).shortHash(made), err
}

// saltOf is the salt that is given, or drawn.
func saltOf(c *call.Input, h *passwordHash, name string) (string, error) {
	salt := c.ArgText(1, "")
	if salt == "" && c.World.Chance != nil && formOf(c.Shared).drawsSalt {
		size, err := c.ArgInt(2, h.salt)
		if err != nil {
			return "", err
		}
		if size < 1 || size > h.salt || h.exact && size != h.salt {
			return "", value.Errorf(value.TypeError, "", "cannot have a salt of %d letters with %s", size, name)
		}
		if salt, err = drawnSalt(c, size); err != nil {
			return "", err
		}
	}
	switch {
	case salt == "":
		return "", value.Errorf(value.TypeError,
			"give one that is kept, such as `| password_hash('sha512', salt)`: one that is made up would change the password with every run", "needs a salt")
	case h.exact && (len(salt) != h.salt || strings.Trim(salt, saltLetters) != ""):
		return "", value.Errorf(value.TypeError, "", "needs a salt of %d letters, digits, dots and slashes with %s", h.salt, name)
	case len(salt) > h.salt || strings.Trim(salt, saltLetters) != "":
		return "", value.Errorf(value.TypeError, "", "needs a salt of at most %d letters, digits, dots and slashes", h.salt)
	case h.id == "y" && len(salt)%4 != 0: // it is base64 there
		return "", value.Errorf(value.TypeError, "", "needs a salt of 4, 8, 12 or 16 letters with %s", name)
	}
	return salt, nil
}

// drawnSalt is a salt of chance, which a playbook that means to have the same password twice does not use.
func drawnSalt(c *call.Input, size int) (string, error) {
	t, err := generator(c, nil)
	if err != nil {
		return "", err
	}
	salt := make([]byte, size)
	for i := range salt {
		salt[i] = saltLetters[t.Below(uint64(len(saltLetters)))]
	}
	return string(salt), nil
}

// hashedPasswords remembers what was computed, by all that it was computed from: a template is rendered more than once,
// and a hash is slow by design.
var hashedPasswords sync.Map

func hashed(h *passwordHash, password, salt, id string, rounds int) (string, error) {
	// A digest, so that the cache itself holds no password.
	key := sha256.Sum256([]byte(strings.Join([]string{id, strconv.Itoa(rounds), salt, password}, "\x00")))
	if done, ok := hashedPasswords.Load(key); ok {
		return done.(string), nil
	}
	text, err := h.make(password, salt, id, rounds)
	if err != nil {
		return "", err
	}
	hashedPasswords.Store(key, text)
	return text, nil
}

func shaCrypt(sum func() hash.Hash) func(password, salt, id string, rounds int) (string, error) {
	return func(password, salt, id string, rounds int) (string, error) {
		// Always written out: what is not said means 5000.
		setting := "$" + id + "$rounds=" + strconv.Itoa(rounds) + "$"
		return setting + salt + "$" + string(crypt.KeySHACrypt(sum, []byte(password), []byte(salt), rounds)), nil
	}
}

func yesCrypt(password, salt, id string, _ int) (string, error) {
	b, err := yescrypt.Hash([]byte(password), []byte("$"+id+"$"+yescryptCost+"$"+salt))
	if err != nil {
		return "", value.Errorf(value.Failure, "give another salt", "yescrypt cannot use the salt")
	}
	return string(b), nil
}

func md5Crypt(password, salt, id string, _ int) (string, error) {
	return "$" + id + "$" + salt + "$" + string(crypt.KeyMD5Crypt([]byte(password), []byte(salt))), nil
}

func bCrypt(password, salt, id string, rounds int) (string, error) {
	raw, err := bcrypt.Base64Decode([]byte(salt))
	if err != nil {
		return "", value.Errorf(value.Failure, "give another salt", "bcrypt cannot use the salt")
	}
	b, err := bcrypt.GenerateFromPasswordSalt([]byte(password), raw, rounds)
	if err != nil {
		return "", value.Errorf(value.Failure, "", "bcrypt cannot use the password or the salt")
	}
	_, rest, _ := strings.Cut(string(b[1:]), "$") // what it calls itself may be another of its names
	return "$" + id + "$" + rest, nil
}
