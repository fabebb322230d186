package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"moon/exec/spec"
)

// flagLetters are the attributes of file systems as lsattr writes them, in its order, with their bits.
var flagLetters = []struct {
	letter byte
	bit    uint32
	name   string // as Ansible calls it; "" for what it does not know
}{
	{'s', 0x1, "zero"},
	{'u', 0x2, "undelete"},
	{'S', 0x8, "synchronous"},
	{'D', 0x10000, "dirsync"},
	{'i', 0x10, "immutable"},
	{'a', 0x20, "append"},
	{'d', 0x40, "nodump"},
	{'A', 0x80, "noatime"},
	{'c', 0x4, "compressed"},
	{'E', 0x800, "encrypted"},
	{'j', 0x4000, "journalled"},
	{'I', 0x1000, "indexed"},
	{'t', 0x8000, "notail"},
	{'T', 0x20000, "blockroot"},
	{'e', 0x80000, "extents"},
	{'C', 0x800000, "nocow"},
	{'x', 0x2000000, ""},
	{'F', 0x40000000, ""},
	{'N', 0x10000000, "inline"},
	{'P', 0x20000000, ""},
	{'V', 0x100000, ""},
	{'m', 0x400, ""},
}

// Bits that let nothing be put in the place of a file.
const immovable = 0x10 | 0x20

// errNoFlags says that a file system has no attributes that could be set.
var errNoFlags = errors.New("its file system has no attributes like those of chattr")

// flags are the attributes of an entry in the file system, if they are known.
type flags struct {
	bits  uint32
	known bool
}

// letters writes attributes as lsattr does, without its dashes.
func letters(bits uint32) string {
	var b strings.Builder
	for _, f := range flagLetters {
		if bits&f.bit != 0 {
			b.WriteByte(f.letter)
		}
	}
	return b.String()
}

func flagBits(text string) (bits uint32) {
	for _, f := range flagLetters {
		if strings.IndexByte(text, f.letter) >= 0 {
			bits |= f.bit
		}
	}
	return bits
}

// editFlags is what an edit makes of attributes.
func editFlags(e spec.FlagEdit, bits uint32) uint32 {
	switch e.Sign {
	case '+':
		return bits | flagBits(e.Letters)
	case '-':
		return bits &^ flagBits(e.Letters)
	case '=':
		return flagBits(e.Letters)
	}
	return bits
}

// FlagWords says in words how the flags of an entry differ from what the step asks for; "" if they do not.
func (at Attributes) FlagWords(e Entry) string {
	edit := at.Flags
	if edit == (spec.FlagEdit{}) {
		return ""
	}
	is := e.flags
	if e.Kind == Link {
		return ""
	}
	if !is.known && e.dir != nil {
		is = flagsAt(e.dir, e.name, e)
	}
	if !is.known { // setting them says why
		return "attributes " + edit.String()
	}
	want := editFlags(edit, is.bits)
	if want == is.bits {
		return ""
	}
	return fmt.Sprintf("attributes %s → %s", orNone(letters(is.bits)), orNone(letters(want)))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// flagsAt looks at the attributes of what was seen at a name. Those of what cannot be read are not known.
func flagsAt(dir *os.Root, name string, e Entry) flags {
	if e.Kind != Regular && e.Kind != Directory || e.Info == nil {
		return flags{}
	}
	fd, err := openSeen(dir, name, e)
	if err != nil {
		return flags{}
	}
	defer func() { _ = syscall.Close(fd) }()
	bits, err := readFlags(fd)
	return flags{bits, err == nil}
}

// setFlags changes the attributes of what is open by what a step asks for.
func setFlags(fd int, e Entry, edit spec.FlagEdit) error {
	if edit == (spec.FlagEdit{}) {
		return nil
	}
	if e.Kind != Regular && e.Kind != Directory {
		return errors.New("only files and directories have attributes")
	}
	bits, err := readFlags(fd)
	if err != nil {
		return err
	}
	want := editFlags(edit, bits)
	if want == bits {
		return nil
	}
	if err := writeFlags(fd, want); !errors.Is(err, errNoFlags) {
		return err
	}
	// Most file systems have some of them only, and ext4 lets no e be taken from a directory.
	return fmt.Errorf("its file system cannot change them from %s to %s", orNone(letters(bits)), orNone(letters(want)))
}

// SetFlags gives what is at a name the attributes that a step asks for, and nothing else. It comes after all other changes: with some
// of them there can be none.
func (w Wanted) SetFlags(dir *os.Root, name string, e Entry) error {
	if w.Flags == (spec.FlagEdit{}) {
		return nil
	}
	fd, err := openSeen(dir, name, e)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	return flagError(name, setFlags(fd, e, w.Flags))
}

func flagError(name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "set the attributes of", Path: name, Err: err}
}

// dressNew gives a file or a directory that has just come to be at a name its attributes.
func (w Wanted) dressNew(dir *os.Root, name string) error {
	if w.Flags == (spec.FlagEdit{}) {
		return nil
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	return w.SetFlags(dir, name, EntryOf(info))
}

// explainStuck adds to the error of a change that was not permitted that the file or its directory may not be changed at all.
func explainStuck(p *Anchored, e Entry, err error) error {
	if !errors.Is(err, syscall.EPERM) {
		return err
	}
	at := flagsAt(p.Dir, p.Name, e)
	if !at.known || at.bits&immovable == 0 {
		return err
	}
	return fmt.Errorf("%w: it has the attributes %s; take them away first: `file: {path: %s, attributes: -%s}`", err,
		letters(at.bits), p.Path, letters(at.bits&immovable))
}

// FileFlags are the attributes of an open file as `stat` returns them: the letters of lsattr, their names, and the version of the file.
// A file system that has none of them, or no version, gives an error.
func FileFlags(f *os.File) (text string, names []string, version uint32, err error) {
	bits, version, err := readVersion(int(f.Fd()))
	if err != nil {
		return "", nil, 0, err
	}
	for _, f := range flagLetters {
		if bits&f.bit != 0 && f.name != "" {
			names = append(names, f.name)
		}
	}
	return letters(bits), names, version, nil
}
