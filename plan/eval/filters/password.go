package filters

import (
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strconv"
	"strings"
	"sync"

	"github.com/go-crypt/x/crypt"
	"github.com/go-crypt/x/yescrypt"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

// passwordHash is one way in which /etc/shadow keeps passwords.
type passwordHash struct {
	id     string // as in $id$salt$hash
	rounds int    // unless the playbook says how many; 0: it has none
	sum    func() hash.Hash
}

var passwordHashes = map[string]passwordHash{
	"sha512":   {"6", 656000, sha512.New},
	"sha256":   {"5", 535000, sha256.New},
	"yescrypt": {id: "y"},
}

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
	h, ok := passwordHashes[name]
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "knows sha512, sha256 and yescrypt, not `%s`", name)
	}
	salt := c.ArgText(1, "")
	if salt == "" && c.World.Chance != nil && formOf(c.Shared).drawsSalt {
		if salt, err = drawnSalt(c); err != nil {
			return nil, err
		}
	}
	switch {
	case salt == "":
		return nil, value.Errorf(value.TypeError,
			"give one that is kept, such as `| password_hash('sha512', salt)`: one that is made up would change the password with every run", "needs a salt")
	case len(salt) > maxSalt || strings.Trim(salt, saltLetters) != "":
		return nil, value.Errorf(value.TypeError, "", "needs a salt of at most %d letters, digits, dots and slashes", maxSalt)
	case h.sum == nil && len(salt)%4 != 0: // it is base64 there
		return nil, value.Errorf(value.TypeError, "", "needs a salt of 4, 8, 12 or 16 letters with %s", name)
	}
	rounds, err := c.ArgInt(3, h.rounds)
	if err != nil {
		return nil, err
	}
	switch {
	case h.rounds == 0 && rounds != 0:
		return nil, value.Errorf(value.TypeError, "", "has no rounds with %s", name)
	case h.rounds > 0 && (rounds < minRounds || rounds > maxRounds):
		return nil, value.Errorf(value.TypeError, "", "needs between %d and %d rounds", minRounds, maxRounds)
	}
	// Shortened behind the cache, which both dialects share.
	made, err := hashed(name, password, salt, rounds)
	return formOf(c.Shared).shortHash(made), err
}

// drawnSalt is a salt of chance, which a playbook that means to have the same password twice does not use.
func drawnSalt(c *call.Input) (string, error) {
	t, err := generator(c, nil)
	if err != nil {
		return "", err
	}
	salt := make([]byte, maxSalt)
	for i := range salt {
		salt[i] = saltLetters[t.Below(uint64(len(saltLetters)))]
	}
	return string(salt), nil
}

// hashedPasswords remembers what was computed, by all that it was computed from: a template is rendered more than once,
// and a hash is slow by design.
var hashedPasswords sync.Map

func hashed(name, password, salt string, rounds int) (string, error) {
	// A digest, so that the cache itself holds no password.
	key := sha256.Sum256([]byte(strings.Join([]string{name, strconv.Itoa(rounds), salt, password}, "\x00")))
	if done, ok := hashedPasswords.Load(key); ok {
		return done.(string), nil
	}
	h := passwordHashes[name]
	setting := "$" + h.id + "$"
	var text string
	if h.sum == nil {
		b, err := yescrypt.Hash([]byte(password), []byte(setting+yescryptCost+"$"+salt))
		if err != nil {
			return "", value.Errorf(value.Failure, "give another salt", "%s cannot use the salt", name)
		}
		text = string(b)
	} else {
		// Always written out: what is not said means 5000.
		setting += "rounds=" + strconv.Itoa(rounds) + "$"
		text = setting + salt + "$" + string(crypt.KeySHACrypt(h.sum, []byte(password), []byte(salt), rounds))
	}
	hashedPasswords.Store(key, text)
	return text, nil
}
