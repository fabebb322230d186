package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"moon/exec/fsys"
	"moon/internal/pattern"
)

// program is a moon that other machines are handed: this one, or one that was built for another system.
type program struct {
	path string // "": this one
	size int64
	sum  string

	once   sync.Once
	packed []byte
	err    error
}

func (p *program) openFile() (*os.File, error) {
	if p.path == "" {
		return openSelf()
	}
	return os.Open(p.path)
}

// packOnce compresses the program once for all machines. For one of a few megabytes the usual level is worth its time; of moon as a whole
// level 1 takes a third of that, for a tenth more.
func (p *program) packOnce() ([]byte, error) {
	p.once.Do(func() {
		f, err := p.openFile()
		if err != nil {
			p.err = err
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		var b bytes.Buffer
		level := gzip.BestSpeed
		if p.size < smallProgram {
			level = gzip.DefaultCompression
		}
		z, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			p.err = err
			return
		}
		_, err = io.Copy(z, f)
		p.err = errors.Join(err, z.Close())
		p.packed = b.Bytes()
	})
	return p.packed, p.err
}

// smallProgram is more than an agent that is nothing else has.
const smallProgram = 20 << 20

func newProgram(path string) (*program, error) {
	p := &program{path: path}
	f, err := p.openFile()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	hash := sha256.New()
	if p.size, err = io.Copy(hash, f); err != nil {
		return nil, err
	}
	p.sum = hex.EncodeToString(hash.Sum(nil))
	return p, nil
}

// programs are those that were needed so far.
type programs struct {
	check func(path string) error // whether one that is for another system is of the same build

	mu    sync.Mutex
	found map[string]*program // by system

	once   sync.Once
	listed string
}

// programKey is which moon this is, for the caches of other machines. Builds from sources that no repository knows have the same
// names, so it is recognised by its bytes.
func programKey() (string, error) {
	own, err := self()
	if err != nil {
		return "", err
	}
	return own.sum[:16], nil
}

// self is this moon, read and packed once however many connections there are.
var self = sync.OnceValues(func() (*program, error) {
	own, err := newProgram("")
	if err != nil {
		return nil, fmt.Errorf("moon does not find itself: %w", err)
	}
	return own, nil
})

// systems are the names that uname has for what Go names otherwise.
var (
	kernels  = map[string]string{"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd", "OpenBSD": "openbsd", "NetBSD": "netbsd"}
	machines = map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i386": "386", "i486": "386", "i586": "386",
		"i686":   "386",
		"armv6l": "arm", "armv7l": "arm", "armv8l": "arm", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
		"loongarch64": "loong64",
	}
)

// systemName is a machine as Go names it, of what uname -s and -m say.
func systemName(kernel, machine string) string {
	goos, ok := kernels[kernel]
	if !ok {
		goos = strings.ToLower(kernel)
	}
	arch, ok := machines[machine]
	if !ok {
		arch = machine
	}
	return goos + "-" + arch
}

// listSums returns the digests of the moons that there are here, by what the script on the other side calls its system:
// kernel-machine=digest. They are read once.
func (ps *programs) listSums() string {
	ps.once.Do(func() {
		here := []string{runtime.GOOS + "-" + runtime.GOARCH}
		for _, dir := range agentsDirs() {
			entries, err := os.ReadDir(dir)
			if err != nil {
				continue // most have none
			}
			for _, e := range entries {
				if nameOfSystem.MatchString(e.Name()) && !slices.Contains(here, e.Name()) {
					here = append(here, e.Name())
				}
			}
		}
		var list []string
		for _, system := range here {
			p, err := ps.findProgram(system)
			if err != nil {
				continue // it is said to who needs it
			}
			goos, arch, _ := strings.Cut(system, "-")
			list = append(list, goos+"-"+arch+"="+p.sum)
			for machine, goarch := range machines {
				if goarch == arch && machine != arch {
					list = append(list, goos+"-"+machine+"="+p.sum)
				}
			}
		}
		ps.listed = strings.Join(list, " ")
	})
	return ps.listed
}

// nameOfSystem is what a directory of a moon for a system is called. It is written into a command.
var nameOfSystem = pattern.New(`^[a-z0-9]+-[a-z0-9_]+$`)

// agentsDirs are where moons for other systems are looked for, each in a directory of its system's name: where the user keeps some, and
// next to this one, as releases and packages have them.
func agentsDirs() (dirs []string) {
	if dirs := os.Getenv("MOON_AGENTS"); dirs != "" {
		return filepath.SplitList(dirs)
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		if home, err := os.UserHomeDir(); err == nil {
			data = filepath.Join(home, ".local", "share")
		}
	}
	if data != "" {
		dirs = append(dirs, filepath.Join(data, "moon", "agents"))
	}
	if own, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(own); err == nil {
			own = real
		}
		bin := filepath.Dir(own)
		dirs = append(dirs, filepath.Join(bin, "agents"), filepath.Join(filepath.Dir(bin), "lib", "moon", "agents"))
	}
	return dirs
}

// explainOther is errOther of a machine that this program was copied to.
func (p *program) explainOther() error {
	which, way := "the moon that was copied there", ""
	if p.path != "" {
		which = p.path + ", which was copied there,"
	} else if p.isDynamic() {
		way = "; it needs the C library that this machine has: build it with CGO_ENABLED=0, or give hosts an agent (" +
			howBuilt(runtime.GOOS+"-"+runtime.GOARCH) + ")"
	}
	return &otherError{which + " is not the same as this one, or does not run there" + way}
}

// errOther says that the user has no moon that is the same as this one.
var errOther = errors.New("another moon answered")

// otherError is errOther with what a person can do about it.
type otherError struct{ said string }

func (e *otherError) Error() string { return e.said }
func (e *otherError) Unwrap() error { return errOther }

// isDynamic reports whether the program needs a loader, which is named near the beginning of its file.
func (p *program) isDynamic() bool {
	f, err := p.openFile()
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, 8<<10)
	n, _ := io.ReadFull(f, head)
	return bytes.HasPrefix(head, []byte("\x7fELF")) && bytes.Contains(head[:n], []byte("/ld-"))
}

// checkOwner refuses a moon that another user can change, as in the home that sudo -E keeps: it would run with the rights that moon has on
// a host.
func checkOwner(path string) error {
	for _, part := range []string{filepath.Dir(path), path} {
		if err := fsys.ProgramOwner().Check(part); err != nil {
			return fmt.Errorf("%s is not sent there: %w; put it in a directory that MOON_AGENTS names", path, err)
		}
	}
	return nil
}

// checkNamed is checkOwner, unless the user has named the directory.
func checkNamed(path string) error {
	if os.Getenv("MOON_AGENTS") != "" {
		return nil
	}
	return checkOwner(path)
}

// findProgram returns the moon for a system. One that somebody has put there on purpose goes before this one: it may be linked otherwise.
func (ps *programs) findProgram(system string) (*program, error) {
	ps.mu.Lock()
	p := ps.found[system]
	ps.mu.Unlock()
	if p != nil {
		return p, nil
	}
	dirs := agentsDirs()
	here := system == runtime.GOOS+"-"+runtime.GOARCH
	for _, dir := range dirs {
		path := filepath.Join(dir, system, "moon")
		p, err := newProgram(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = checkNamed(path)
		}
		if err == nil && ps.check != nil {
			if err = ps.check(path); err != nil && here {
				continue // this moon is one, too
			} else if err != nil {
				err = fmt.Errorf("%w; put one of this version there: %s", err, howBuilt(system))
			}
		}
		if err != nil {
			return nil, err
		}
		return ps.keepFirst(system, p), nil
	}
	if here {
		own, err := self()
		if err != nil {
			return nil, err
		}
		return ps.keepFirst(system, own), nil
	}
	where := "the directory that MOON_AGENTS names"
	if len(dirs) > 0 {
		where = dirs[0]
	}
	return nil, fmt.Errorf("it is %s, and there is no moon for that here; put one of this version at %s (%s)",
		system, filepath.Join(where, system, "moon"), howBuilt(system))
}

// howBuilt says how a moon for a system comes to be.
func howBuilt(system string) string {
	return "`make agents SYSTEMS=" + system + "` makes it of moon's sources, and releases have it"
}

// keepFirst keeps the first of several that were looked for at once.
func (ps *programs) keepFirst(system string, p *program) *program {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.found == nil {
		ps.found = map[string]*program{}
	}
	if is := ps.found[system]; is != nil {
		return is
	}
	ps.found[system] = p
	return p
}
