package digest

import (
	"errors"
	"strings"

	"moon/internal/pattern"
)

// Lengths is how many digits each hash has.
var Lengths = map[string]int{"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}

// Checksum splits a checksum into its algorithm and its digits in lower case. Without a name in front the number of
// digits tells.
func Checksum(text string) (algorithm, digits string, err error) {
	algorithm, digits, named := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	if !named {
		// The lengths of the algorithms differ, so the number of digits says which it is.
		algorithm, digits = "", algorithm
		for name, n := range Lengths {
			if n == len(digits) {
				algorithm = name
			}
		}
	}
	if strings.Trim(digits, "0123456789abcdef") != "" || len(digits) != Lengths[algorithm] || len(digits) == 0 {
		return "", "", errors.New("must be the hex digits of a sha256, sha1, sha512 or md5")
	}
	return algorithm, digits, nil
}

// A digest says what moon left at a place. Of a file it is the checksum of its content; what has no content has a word in front.
const (
	Link  = "link:"  // and the link's target
	Tree  = "tree:"  // and a SHA-256 over all that is in a directory
	Venv  = "venv:"  // the same of a Python environment, without what pip keeps in it
	Stamp = "stamp:" // and size and time of a file whose content must not be digested
)

// forms is what follows the word in front of a digest.
var forms = map[string]*pattern.Pattern{
	Link:  pattern.New(`(?s)^.+$`),
	Tree:  pattern.New(`^[0-9a-f]{64}$`),
	Venv:  pattern.New(`^[0-9a-f]{64}$`),
	Stamp: pattern.New(`^[0-9]+-[0-9]+$`),
}

// Read splits a digest into its kind, or the algorithm of a file's checksum, and the rest.
func Read(text string) (kind, rest string, err error) {
	for kind, form := range forms {
		if rest, is := strings.CutPrefix(text, kind); is {
			if !form.MatchString(rest) {
				return "", "", errors.New("is not what moon has recorded after " + kind)
			}
			return kind, rest, nil
		}
	}
	return Checksum(text)
}
