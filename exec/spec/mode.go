package spec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Mode is a file mode as a playbook writes it: octal digits (0644, 644, 1777), changes to the mode there is
// (u+x,g-w, a=rX), or the word preserve. The zero value is no mode at all.
type Mode struct {
	text     string
	bits     uint32
	changes  []modeChange
	preserve bool
}

// modeChange is one operation of a symbolic mode.
type modeChange struct {
	who   uint32 // permission bits it may touch; 0: all, as far as the umask allows
	op    byte   // + - =
	perms uint32 // r w x of all three classes, and s and t
	x     bool   // X: execute for directories and for what somebody may execute
	copy  byte   // u, g or o: take the permissions from there
}

const (
	setUID uint32 = 0o4000
	setGID uint32 = 0o2000
	sticky uint32 = 0o1000
)

// ParseMode reads a mode. Its error says how to write one.
func ParseMode(text string) (Mode, error) {
	text = strings.TrimSpace(text)
	m := Mode{text: text}
	switch {
	case text == "":
		return Mode{}, errors.New("is empty")
	case text == "preserve":
		m.preserve = true
		return m, nil
	case text[0] >= '0' && text[0] <= '9':
		digits := strings.TrimPrefix(text, "0o")
		n, err := strconv.ParseUint(digits, 8, 32)
		// 0o644 is how YAML 1.2 writes octal numbers.
		if err != nil {
			return Mode{}, fmt.Errorf("must be octal digits like 0644, found %s", text)
		}
		// Three digits at least: a mode of one digit is more likely a mistake.
		if len(digits) < 3 || n > 0o7777 {
			return Mode{}, fmt.Errorf("must have three or four octal digits like 0644, found %s", text)
		}
		m.bits = uint32(n)
		return m, nil
	}
	for clause := range strings.SplitSeq(text, ",") {
		changes, ok := parseClause(clause)
		if !ok {
			return Mode{}, fmt.Errorf("must be like 0644 or u+x, found %q", text)
		}
		m.changes = append(m.changes, changes...)
	}
	return m, nil
}

func parseClause(clause string) ([]modeChange, bool) {
	i := strings.IndexAny(clause, "+-=")
	if i < 0 {
		return nil, false
	}
	var who uint32
	for _, c := range clause[:i] {
		switch c {
		case 'u':
			who |= 0o700 | setUID
		case 'g':
			who |= 0o070 | setGID
		case 'o':
			who |= 0o007 | sticky
		case 'a':
			who |= 0o777 | setUID | setGID | sticky
		default:
			return nil, false
		}
	}
	var changes []modeChange
	for rest := clause[i:]; rest != ""; {
		c := modeChange{who: who, op: rest[0]}
		// Several changes may follow one "who": u+r-w.
		end := strings.IndexAny(rest[1:], "+-=") + 1
		if end == 0 {
			end = len(rest)
		}
		if !c.setPerms(rest[1:end]) {
			return nil, false
		}
		changes = append(changes, c)
		rest = rest[end:]
	}
	return changes, true
}

func (c *modeChange) setPerms(perms string) bool {
	if len(perms) == 1 && strings.Contains("ugo", perms) {
		c.copy = perms[0]
		return true
	}
	for _, p := range perms {
		switch p {
		case 'r':
			c.perms |= 0o444
		case 'w':
			c.perms |= 0o222
		case 'x':
			c.perms |= 0o111
		case 'X':
			c.x = true
		case 's':
			c.perms |= setUID | setGID
		case 't':
			c.perms |= sticky
		default:
			return false
		}
	}
	return true
}

// IsZero reports whether no mode was given.
func (m Mode) IsZero() bool { return m.text == "" }

// Preserve reports whether the mode is to be the source file's.
func (m Mode) Preserve() bool { return m.preserve }

// String is the mode as it was written.
func (m Mode) String() string { return m.text }

// Apply returns the mode that a file with the mode current shall have: permission bits with setuid, setgid and
// sticky as in 07777. Like chmod, a symbolic mode that names nobody (+x) leaves alone what the umask masks.
func (m Mode) Apply(current uint32, dir bool, umask uint32) uint32 {
	if m.IsZero() || m.preserve {
		return current
	}
	if len(m.changes) == 0 {
		return m.bits
	}
	for _, c := range m.changes {
		current = c.applyTo(current, dir, umask)
	}
	return current
}

func (c modeChange) applyTo(mode uint32, dir bool, umask uint32) uint32 {
	who := c.who
	// Without "who" chmod changes all, but leaves alone what the umask masks.
	if who == 0 {
		who = 0o7777 &^ umask
	}
	perms := c.perms
	// Copies the bits of one class to all; who then selects.
	if c.copy != 0 {
		perms = mode >> map[byte]uint{'u': 6, 'g': 3, 'o': 0}[c.copy] & 7 * 0o111
	}
	// X gives the right to execute only to directories and to what someone may execute already.
	if c.x && (dir || mode&0o111 != 0) {
		perms |= 0o111
	}
	perms &= who
	switch c.op {
	case '+':
		return mode | perms
	case '-':
		return mode &^ perms
	}
	keep := ^who
	if dir {
		keep |= setUID | setGID // as chmod does: a=rx does not take a directory's setgid away
	}
	return mode&keep | perms
}
