package exec

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
)

// unpacking is an archive on its way into a directory.
//
// It is read twice. The first time every member is compared with what is there, and nothing is written before all of
// them are known: a name that leads out, a file below a link, or a bomb refuses the archive as a whole. The second time
// what differs is written. All is done in directories that are held open and were opened from dest without leaving
// it, so that nobody can lead a write elsewhere by swapping a directory for a link in between.
type unpacking struct {
	*attempt
	args  *spec.UnarchiveArgs
	attrs attributes
	c     *change
	ar    *archive
	at    *place // dest

	list    []planned
	index   map[string]int // names in list
	digests []uint64       // of all members, in their order
	found   []bool         // which patterns of include had a match
	special string         // the first member with setuid or the like

	dir     *os.Root // of the name looked at last
	dirName string
	ids     map[string]int

	contents map[string][]byte // of new files, for later steps of a dry run
	kept     int64

	// While it is written.
	doing map[int]int // members to their place in list
	next  int         // the number of the next member
	many  bool        // so many that they go onto the disk together
	later []planned   // directories that get their mode at the end
	buf   []byte
}

// planned is something that shall be in dest.
type planned struct {
	name   string
	kind   string
	state  state
	below  bool   // what it is in is new too
	made   bool   // by now, for what is in it
	member int    // its number in the archive; -1: a directory that only its content speaks of
	words  string // how it differs
	ahead  *outlook
}

// outlook is what later steps of a dry run are told of a member.
type outlook struct {
	was    entry
	shall  wanted
	target string // of a link; of a hard link the name in list
}

// state is how something in dest compares with the archive.
type state uint8

const (
	same state = iota
	fresh
	replaced
	dressed // only mode or owners differ
)

func newUnpacking(a *attempt, args *spec.UnarchiveArgs, attrs attributes, c *change, ar *archive, at *place) *unpacking {
	return &unpacking{
		attempt: a, args: args, attrs: attrs, c: c, ar: ar, at: at,
		index: map[string]int{}, found: make([]bool, len(args.Wanted)), ids: map[string]int{}, contents: map[string][]byte{}, buf: make([]byte, copySize),
	}
}

func (u *unpacking) close() {
	if u.dir != nil {
		_ = u.dir.Close() // nothing is written through it
		u.dir = nil
	}
}

// compare takes one member up into the plan.
func (u *unpacking) compare(ctx context.Context, m *member) error {
	u.digests = append(u.digests, m.digest())
	name, err := u.nameOf(m.name)
	if err != nil || name == "" {
		return err
	}
	if m.kind == other {
		what := m.what
		if what == "" {
			what = "of a kind that is not known"
		}
		return fmt.Errorf("%s: %s is %s, and only files, directories and links are unpacked; leave it out with `exclude`", u.ar.path, quoted(name), what)
	}
	if m.kind != link && m.mode&0o6000 != 0 && u.special == "" && u.attrs.mode.IsZero() {
		u.special = quoted(name)
	}
	i, err := u.claim(name, m.kind)
	if err != nil {
		return err
	}
	err = u.keep(name, m)
	var st state
	var words []string
	if err == nil {
		st, words, err = u.differs(ctx, i, m)
	}
	if err != nil {
		return u.error(name, err)
	}
	p := &u.list[i]
	p.member, p.state, p.words = len(u.digests)-1, st, strings.Join(words, ", ")
	if u.foresight != nil && i < keptFiles && st != same {
		p.ahead, err = u.outlook(p, m)
	}
	return u.error(name, err)
}

func (u *unpacking) outlook(p *planned, m *member) (*outlook, error) {
	is := nothing.entry
	if !p.below {
		var err error
		if is, err = u.look(p.name); err != nil {
			return nil, err
		}
	}
	w := u.wants(m)
	if is.kind == directory {
		w, _ = u.onDir(is)
	} else if is.kind != absent && m.kind != hard {
		w, _ = u.on(m, is)
	}
	ahead := &outlook{is, w, m.target}
	if m.kind == hard {
		var err error
		if ahead.target, err = u.nameOf(m.target); err != nil {
			return nil, err
		}
	}
	return ahead, nil
}

// nameOf is where a member goes, or "" if it is left out. A slash in front is taken off, as tar does.
func (u *unpacking) nameOf(raw string) (string, error) {
	var parts []string
	for part := range strings.SplitSeq(raw, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if !u.wanted(strings.Join(parts, "/")) {
		return "", nil
	}
	if slices.Contains(parts, "..") || strings.ContainsRune(raw, 0) {
		return "", fmt.Errorf("%s: the name %s leads out of the directory; nothing is unpacked, unless `exclude` leaves it out", u.ar.path, quoted(raw))
	}
	return strings.Join(parts[min(len(parts), u.args.StripComponents):], "/"), nil
}

func (u *unpacking) wanted(name string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(name) }
	if slices.ContainsFunc(u.args.Unwanted, matches) {
		return false
	}
	any := len(u.args.Wanted) == 0
	for i, re := range u.args.Wanted {
		if matches(re) {
			u.found[i], any = true, true
		}
	}
	return any
}

// claim finds the place of a name in the plan. What is above it must be directories, in the archive and on the disk; of a
// name that comes more than once the last counts.
func (u *unpacking) claim(name, kind string) (int, error) {
	above, below := path.Dir(name), false
	if above != "." {
		i, ok := u.index[above]
		if !ok {
			var err error
			if i, err = u.claim(above, directory); err != nil {
				return 0, err
			}
			if u.list[i].state, err = u.implies(above); err != nil {
				return 0, u.error(above, err)
			}
		}
		if u.list[i].kind != directory {
			return 0, fmt.Errorf("%s: %s is below %s, which is no directory in the archive", u.ar.path, quoted(name), quoted(above))
		}
		below = u.list[i].state == fresh
	}
	i, ok := u.index[name]
	if !ok {
		i = len(u.list)
		u.index[name] = i
		u.list = append(u.list, planned{name: name, kind: kind, member: -1, below: below})
	}
	p := &u.list[i]
	if (p.kind == directory) != (kind == directory) {
		return 0, fmt.Errorf("%s: %s is a directory and something else at once", u.ar.path, quoted(name))
	}
	p.kind = kind
	return i, nil
}

// implies is the state of a directory that only its content speaks of.
func (u *unpacking) implies(name string) (state, error) {
	if u.list[u.index[name]].below {
		return fresh, nil
	}
	is, err := u.look(name)
	switch {
	case err != nil:
		return same, err
	case is.kind == absent:
		return fresh, nil
	}
	return same, u.isDir(name, is)
}

// isDir fails unless an entry is a directory, or a link to one that is in dest too.
func (u *unpacking) isDir(name string, is entry) error {
	if is.kind == directory {
		return nil
	}
	if _, ahead := u.foresight.look(u.path(name)); ahead && is.kind == link {
		return missing(u.at.path, "an earlier step would make the link %s", u.path(name))
	}
	if is.kind == link {
		info, err := u.at.dir.Stat(name)
		if err == nil && info.IsDir() {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, where the archive has a directory%s", u.path(name), is.what(), map[bool]string{true: "; a link must lead to a directory in dest"}[is.kind == link])
}

func (u *unpacking) path(name string) string { return u.at.path + "/" + name }

func (u *unpacking) error(name string, err error) error {
	at := place{path: u.path(name)}
	return at.error(err)
}

// in opens the directory that a name is in. It stays open until the next.
func (u *unpacking) in(name string) (*os.Root, error) {
	above := path.Dir(name)
	if above == "." {
		return u.at.dir, nil
	}
	if u.dir != nil && u.dirName == above {
		return u.dir, nil
	}
	u.close()
	dir, err := u.at.dir.OpenRoot(above)
	if err != nil {
		return nil, err
	}
	u.dir, u.dirName = dir, above
	return dir, nil
}

func (u *unpacking) look(name string) (entry, error) {
	if at, ok := u.foresight.look(u.path(name)); ok || u.at.dir == nil {
		return at.entry, nil
	}
	dir, err := u.in(name)
	if err != nil {
		return entry{}, err
	}
	p := place{path: u.path(name), name: path.Base(name), dir: dir}
	return p.look()
}

// differs compares a member with what is in its place.
func (u *unpacking) differs(ctx context.Context, i int, m *member) (state, []string, error) {
	p := u.list[i]
	is := entry{kind: absent}
	if !p.below {
		var err error
		if is, err = u.look(p.name); err != nil {
			return same, nil, err
		}
	}
	if m.kind == directory && is.kind != absent {
		if err := u.isDir(p.name, is); err != nil || is.kind == link {
			return same, nil, err
		}
		w, words := u.onDir(is)
		return dressedIf(w, is), words, nil
	}
	if is.kind == directory || is.kind == other {
		return same, nil, fmt.Errorf("%s is %s, where the archive has %s", u.path(p.name), is.what(), map[bool]string{true: "a link", false: "a file"}[m.kind == link])
	}
	if m.kind == hard {
		return u.hardDiffers(p.name, is, m)
	}
	if is.kind == absent {
		return fresh, nil, nil
	}
	if m.kind == link {
		if is.kind != link || is.target != m.target {
			return replaced, []string{strings.TrimPrefix(is.what(), "a ") + " → link to " + quoted(m.target)}, nil
		}
		w, words := u.on(m, is)
		return dressedIf(w, is), words, nil
	}
	return u.fileDiffers(ctx, p.name, is, m)
}

func dressedIf(w wanted, is entry) state {
	if w == (wanted{is.mode, is.uid, is.gid}) {
		return same
	}
	return dressed
}

func (u *unpacking) fileDiffers(ctx context.Context, name string, is entry, m *member) (state, []string, error) {
	if is.kind == link {
		return replaced, []string{strings.TrimPrefix(is.what(), "a ") + " → file"}, nil
	}
	if u.args.KeepNewer && is.info.ModTime().After(m.time) {
		return same, nil, nil
	}
	w, words := u.on(m, is)
	if is.size != m.size {
		return replaced, append([]string{fmt.Sprintf("%s → %s", size(is.size), size(m.size))}, words...), nil
	}
	equal, err := u.sameContent(ctx, name, is, m)
	if err != nil {
		return same, nil, err
	}
	if !equal {
		return replaced, append([]string{"content"}, words...), nil
	}
	return dressedIf(w, is), words, nil
}

// sameContent compares a file with a member of the same size. Where the archive has a sum of the content nothing is
// unpacked for it.
func (u *unpacking) sameContent(ctx context.Context, name string, is entry, m *member) (bool, error) {
	there, err := u.openThere(name, is)
	if err != nil {
		return false, err
	}
	defer func() { _ = there.Close() }() // it was only read
	if m.hasCRC {
		h := crc32.NewIEEE()
		_, err := io.CopyBuffer(h, stoppable{ctx, there}, u.buf)
		return h.Sum32() == m.crc, err
	}
	packed, err := m.open()
	if err != nil {
		return false, err
	}
	half := len(u.buf) / 2
	for left := m.size; left > 0; {
		n := int(min(left, int64(half)))
		if stopped(ctx) != "" {
			return false, context.Cause(ctx)
		}
		if _, err := io.ReadFull(packed, u.buf[:n]); err != nil {
			return false, u.ar.damaged(err)
		}
		if _, err := io.ReadFull(there, u.buf[half:half+n]); err != nil {
			return false, nil // it has become shorter
		}
		if string(u.buf[:n]) != string(u.buf[half:half+n]) {
			return false, nil
		}
		left -= int64(n)
	}
	return true, nil
}

func (u *unpacking) openThere(name string, is entry) (io.ReadCloser, error) {
	at := place{path: u.path(name), name: path.Base(name), foresight: u.foresight}
	if _, ahead := u.foresight.look(at.path); !ahead {
		var err error
		if at.dir, err = u.in(name); err != nil {
			return nil, err
		}
	}
	return at.open(is)
}

// Bounds of the contents that are kept for later steps of a dry run, in bytes and in files.
const (
	keptLimit = 16 << 20
	keptFiles = 1000
)

// keep holds the content of a small member, so that later steps of a dry run can look into it.
func (u *unpacking) keep(name string, m *member) error {
	if u.foresight == nil || m.kind != regular || m.size > diffLimit || u.kept+m.size > keptLimit || len(u.contents) == keptFiles {
		return nil
	}
	packed, err := m.open()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(packed, m.size+1))
	if err != nil || int64(len(data)) != m.size {
		return u.ar.damaged(err)
	}
	u.contents[name] = data
	u.kept += m.size
	m.open = func() (io.Reader, error) { return bytes.NewReader(data), nil }
	return nil
}

// foresee tells later steps of a dry run what would be unpacked. Of an archive with very many members it tells the
// beginning.
func (u *unpacking) foresee(f *Foresight) {
	for i := range min(len(u.list), keptFiles) {
		p := &u.list[i]
		path := u.path(p.name)
		if p.state == same {
			continue
		}
		if p.ahead == nil { // only what is in it is in the archive
			w, _ := u.attrs.anew(directory)
			f.put(path, foreseen{entry: w.entry(directory), fresh: true})
			continue
		}
		if p.state == dressed {
			f.own(path, p.ahead.was, p.ahead.shall)
			continue
		}
		at := foreseen{entry: p.ahead.shall.entry(p.kind), fresh: p.kind == directory}
		name := p.name
		if p.kind == hard {
			name, at.kind, at.twin = p.ahead.target, regular, f.leads(u.path(p.ahead.target))
		}
		data, known := u.contents[name]
		switch {
		case p.kind == link:
			at.target = p.ahead.target
		case at.kind == regular && known:
			at.from = source{data: data, size: int64(len(data))}
		case p.kind != directory:
			at.kind = other
		}
		f.put(path, at)
	}
}

// stoppable is a reader that ends when the step is stopped.
type stoppable struct {
	ctx context.Context //nolint:containedctx // a reader knows no other way
	io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if stopped(s.ctx) != "" {
		return 0, context.Cause(s.ctx)
	}
	return s.Reader.Read(p)
}

// hardDiffers compares a hard link. It may only be to a file that the archive itself has before it: another one could be
// anybody's.
func (u *unpacking) hardDiffers(name string, is entry, m *member) (state, []string, error) {
	to, err := u.nameOf(m.target)
	if err != nil {
		return same, nil, err
	}
	i, ok := u.index[to]
	if !ok || to == name || u.list[i].member < 0 || u.list[i].kind != regular && u.list[i].kind != hard {
		return same, nil, fmt.Errorf("%s: %s is a hard link to %s, which is no file that is unpacked before it", u.ar.path, quoted(name), quoted(m.target))
	}
	words := []string{"hard link to " + quoted(to)}
	if is.kind == absent {
		return fresh, words, nil
	}
	if st := u.list[i].state; st == fresh || st == replaced {
		return replaced, words, nil
	}
	there, err := u.look(to)
	if err != nil {
		return same, nil, err
	}
	if os.SameFile(there.info, is.info) {
		return same, nil, nil
	}
	return replaced, words, nil
}

// wants is the mode and the owners that a member gives. Ids that it leaves open are -1.
func (u *unpacking) wants(m *member) wanted {
	w := wanted{m.mode & 0o777, u.attrs.uid, u.attrs.gid}
	root := os.Geteuid() == 0
	switch {
	case m.kind == directory && m.mode == 0:
		w.mode = 0o755 &^ umask()
	case m.mode == 0 && m.hasCRC: // a zip archive from a system without modes
		w.mode = 0o644 &^ umask()
	case !root:
		w.mode &^= umask()
	}
	if m.kind == directory {
		w.mode |= m.mode & 0o1000
	}
	w.mode = u.modeOf(w.mode, m.kind == directory)
	if root && w.uid < 0 && m.uid >= 0 {
		w.uid = u.id("u"+m.owner, m.uid, u.userID)
	}
	if root && w.gid < 0 && m.gid >= 0 {
		w.gid = u.id("g"+m.group, m.gid, u.groupID)
	}
	return w
}

func (u *unpacking) modeOf(base uint32, dir bool) uint32 {
	mode := u.attrs.mode.Apply(base, dir, umask())
	if text := u.attrs.mode.String(); dir && text != "" && text[0] >= '0' && text[0] <= '9' {
		mode |= mode & 0o444 >> 2
	}
	return mode
}

// id is the number of a user or group that an archive names. Who is not known here has the number from there.
func (u *unpacking) id(name string, number int, find func(string) (int, error)) int {
	if len(name) == 1 {
		return number
	}
	id, ok := u.ids[name]
	if !ok {
		id = -1
		if _, err := strconv.Atoi(name[1:]); err != nil {
			if known, err := find(name[1:]); err == nil {
				id = known
			}
		}
		u.ids[name] = id
	}
	if id < 0 {
		return number
	}
	return id
}

// on is what an entry that stays shall have, and in words how that differs. Unless the step gives a mode, setuid and
// the like stay as they are.
func (u *unpacking) on(m *member, is entry) (wanted, []string) {
	w := u.wants(m)
	if u.attrs.mode.IsZero() {
		w.mode |= is.mode & 0o7000
	}
	if is.kind == link {
		w.mode = is.mode
	}
	return u.describe(w, is)
}

// onDir is the same of a directory that is there already: it keeps its mode and owners, unless the step gives others.
func (u *unpacking) onDir(is entry) (wanted, []string) {
	return u.describe(wanted{u.modeOf(is.mode, true), u.attrs.uid, u.attrs.gid}, is)
}

func (u *unpacking) describe(w wanted, is entry) (wanted, []string) {
	var words []string
	if w.uid < 0 {
		w.uid = is.uid
	}
	if w.gid < 0 {
		w.gid = is.gid
	}
	if w.uid != is.uid {
		words = append(words, fmt.Sprintf("owner %s → %s", userName(is.uid), userName(w.uid)))
	}
	if w.gid != is.gid {
		words = append(words, fmt.Sprintf("group %s → %s", groupName(is.gid), groupName(w.gid)))
	}
	if w.mode != is.mode {
		words = append(words, fmt.Sprintf("mode %04o → %04o", is.mode, w.mode))
	}
	return w, words
}

// quoted is a name that others chose, fit to be shown.
func quoted(name string) string {
	if q := strconv.Quote(name); q != `"`+name+`"` || name == "" || strings.ContainsAny(name, " \t") {
		return q
	}
	return name
}
