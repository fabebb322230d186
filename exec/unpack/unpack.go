package unpack

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

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// Unpacking is an archive on its way into a directory.
//
// It is read twice. The first time every member is compared with what is there, and nothing is written before all of
// them are known: a name that leads out, a file below a link, or a bomb refuses the archive as a whole. The second time
// what differs is written. All is done in directories that are held open and were opened from dest without leaving
// it, so that nobody can lead a write elsewhere by swapping a directory for a link in between.
type Unpacking struct {
	*exec.Attempt
	args  *spec.UnarchiveArgs
	attrs fsys.Attributes
	c     *exec.Change
	ar    *fsys.Archive
	at    *fsys.Anchored // dest

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

// outlook is what later steps of a dry run know of a member.
type outlook struct {
	was    fsys.Entry
	shall  fsys.Wanted
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

// New plans to unpack an archive into the directory at a place, as a change.
func New(a *exec.Attempt, args *spec.UnarchiveArgs, attrs fsys.Attributes, c *exec.Change, ar *fsys.Archive,
	at *fsys.Anchored,
) *Unpacking {
	return &Unpacking{
		Attempt: a, args: args, attrs: attrs, c: c, ar: ar, at: at,
		index: map[string]int{}, found: make([]bool, len(args.Wanted)), ids: map[string]int{}, contents: map[string][]byte{},
		buf: make([]byte, fsys.CopySize),
	}
}

// Close closes the directory that was opened last.
func (u *Unpacking) Close() {
	if u.dir != nil {
		_ = u.dir.Close() // nothing is written through it
		u.dir = nil
	}
}

// Compare takes one member up into the plan.
func (u *Unpacking) Compare(ctx context.Context, m *fsys.Member) error {
	// The digests show at the second reading whether the archive is still the one that was planned.
	u.digests = append(u.digests, m.Digest())
	name, err := u.nameOf(m.Name)
	if err != nil || name == "" {
		return err
	}
	if m.Kind == fsys.Other {
		what := m.What
		if what == "" {
			what = "of a kind that is not known"
		}
		return fmt.Errorf("%s: %s is %s, and only files, directories and links are unpacked; exclude it with `exclude`", u.ar.Path,
			fsys.Quoted(name), what)
	}
	// Set-id bits would let an archive bring programs that run as root.
	if m.Kind != fsys.Link && m.Mode&0o6000 != 0 && u.special == "" && u.attrs.Mode.IsZero() {
		u.special = fsys.Quoted(name)
	}
	i, err := u.claimName(name, m.Kind)
	if err != nil {
		return err
	}
	err = u.keepContent(name, m)
	var st state
	var words []string
	if err == nil {
		st, words, err = u.describeDifference(ctx, i, m)
	}
	if err != nil {
		return u.wrapError(name, err)
	}
	p := &u.list[i]
	p.member, p.state, p.words = len(u.digests)-1, st, strings.Join(words, ", ")
	// Only a dry run has an overlay to fill.
	if u.Overlay != nil && i < keptFiles && st != same {
		p.ahead, err = u.findOutlook(p, m)
	}
	return u.wrapError(name, err)
}

func (u *Unpacking) findOutlook(p *planned, m *fsys.Member) (*outlook, error) {
	is := fsys.Nothing.Entry
	if !p.below {
		var err error
		if is, err = u.lookAt(p.name); err != nil {
			return nil, err
		}
	}
	w := u.wantedOf(m)
	if is.Kind == fsys.Directory {
		w, _ = u.onDir(is)
	} else if is.Kind != fsys.Absent && m.Kind != fsys.HardLink {
		w, _ = u.wantedOn(m, is)
	}
	ahead := &outlook{is, w, m.Target}
	if m.Kind == fsys.HardLink {
		var err error
		if ahead.target, err = u.nameOf(m.Target); err != nil {
			return nil, err
		}
	}
	return ahead, nil
}

// nameOf is where a member goes, or "" if it is left out. A slash in front is taken off, as tar does.
func (u *Unpacking) nameOf(raw string) (string, error) {
	var parts []string
	for part := range strings.SplitSeq(raw, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if !u.isWanted(strings.Join(parts, "/")) {
		return "", nil
	}
	// Excluded names are not an error, so the check comes after the selection.
	if slices.Contains(parts, "..") || strings.ContainsRune(raw, 0) {
		return "", fmt.Errorf("%s: the name %s leads out of the directory; nothing is unpacked, unless it is excluded with `exclude`",
			u.ar.Path, fsys.Quoted(raw))
	}
	return strings.Join(parts[min(len(parts), u.args.StripComponents):], "/"), nil
}

func (u *Unpacking) isWanted(name string) bool {
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

// claimName finds the place of a name in the plan. What is above it must be directories, in the archive and on the disk; of a
// name that comes more than once the last counts.
func (u *Unpacking) claimName(name, kind string) (int, error) {
	above, below := path.Dir(name), false
	if above != "." {
		i, ok := u.index[above]
		if !ok {
			var err error
			if i, err = u.claimName(above, fsys.Directory); err != nil {
				return 0, err
			}
			if u.list[i].state, err = u.impliedState(above); err != nil {
				return 0, u.wrapError(above, err)
			}
		}
		if u.list[i].kind != fsys.Directory {
			return 0, fmt.Errorf("%s: %s is below %s, which is not a directory in the archive", u.ar.Path, fsys.Quoted(name),
				fsys.Quoted(above))
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
	if (p.kind == fsys.Directory) != (kind == fsys.Directory) {
		return 0, fmt.Errorf("%s: %s is a directory and something else at once", u.ar.Path, fsys.Quoted(name))
	}
	p.kind = kind
	return i, nil
}

// impliedState is the state of a directory that only its content speaks of.
func (u *Unpacking) impliedState(name string) (state, error) {
	if u.list[u.index[name]].below {
		return fresh, nil
	}
	is, err := u.lookAt(name)
	switch {
	case err != nil:
		return same, err
	case is.Kind == fsys.Absent:
		return fresh, nil
	}
	return same, u.isDir(name, is)
}

// isDir fails unless an entry is a directory, or a link to one that is in dest too.
func (u *Unpacking) isDir(name string, is fsys.Entry) error {
	if is.Kind == fsys.Directory {
		return nil
	}
	if _, ahead := u.Overlay.Look(u.destPath(name)); ahead && is.Kind == fsys.Link {
		return fault.Missing(u.at.Path, "an earlier step would make the link %s", u.destPath(name))
	}
	if is.Kind == fsys.Link {
		// os.Root follows a link only within dest.
		info, err := u.at.Dir.Stat(name)
		if err == nil && info.IsDir() {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, where the archive has a directory%s", u.destPath(name), is.What(),
		map[bool]string{true: "; a link must lead to a directory in dest"}[is.Kind == fsys.Link])
}

func (u *Unpacking) destPath(name string) string { return u.at.Path + "/" + name }

func (u *Unpacking) wrapError(name string, err error) error {
	at := fsys.Anchored{Path: u.destPath(name)}
	return at.PathError(err)
}

// openDirectory opens the directory that a name is in. It stays open until the next.
func (u *Unpacking) openDirectory(name string) (*os.Root, error) {
	above := path.Dir(name)
	if above == "." {
		return u.at.Dir, nil
	}
	if u.dir != nil && u.dirName == above {
		return u.dir, nil
	}
	u.Close()
	// Members of a directory mostly follow each other: one open directory serves them all.
	dir, err := u.at.Dir.OpenRoot(above)
	if err != nil {
		return nil, err
	}
	u.dir, u.dirName = dir, above
	return dir, nil
}

func (u *Unpacking) lookAt(name string) (fsys.Entry, error) {
	if at, ok := u.Overlay.Look(u.destPath(name)); ok || u.at.Dir == nil {
		return at.Entry, nil
	}
	dir, err := u.openDirectory(name)
	if err != nil {
		return fsys.Entry{}, err
	}
	p := fsys.Anchored{Path: u.destPath(name), Name: path.Base(name), Dir: dir}
	return p.Look()
}

// describeDifference compares a member with what is in its place.
func (u *Unpacking) describeDifference(ctx context.Context, i int, m *fsys.Member) (state, []string, error) {
	p := u.list[i]
	is := fsys.Entry{Kind: fsys.Absent}
	if !p.below {
		var err error
		if is, err = u.lookAt(p.name); err != nil {
			return same, nil, err
		}
	}
	if m.Kind == fsys.Directory && is.Kind != fsys.Absent {
		if err := u.isDir(p.name, is); err != nil || is.Kind == fsys.Link {
			// A link to a directory is as good as one, and its own mode says nothing.
			return same, nil, err
		}
		_, words := u.onDir(is)
		return dressedIf(words), words, nil
	}
	if is.Kind == fsys.Directory || is.Kind == fsys.Other {
		return same, nil, fmt.Errorf("%s is %s, where the archive has %s", u.destPath(p.name), is.What(),
			map[bool]string{true: "a link", false: "a file"}[m.Kind == fsys.Link])
	}
	if m.Kind == fsys.HardLink {
		return u.hardDiffers(p.name, is, m)
	}
	if is.Kind == fsys.Absent {
		return fresh, nil, nil
	}
	if m.Kind == fsys.Link {
		// The link is replaced and never followed: it could lead out of dest.
		if is.Kind != fsys.Link || is.Target != m.Target {
			return replaced, []string{strings.TrimPrefix(is.What(), "a ") + " → link to " + fsys.Quoted(m.Target)}, nil
		}
		_, words := u.wantedOn(m, is)
		return dressedIf(words), words, nil
	}
	return u.fileDiffers(ctx, p.name, is, m)
}

func dressedIf(words []string) state {
	if len(words) == 0 {
		return same
	}
	return dressed
}

func (u *Unpacking) fileDiffers(ctx context.Context, name string, is fsys.Entry, m *fsys.Member) (state, []string, error) {
	if is.Kind == fsys.Link {
		return replaced, []string{strings.TrimPrefix(is.What(), "a ") + " → file"}, nil
	}
	if u.args.KeepNewer && is.Info.ModTime().After(m.Time) {
		return same, nil, nil
	}
	_, words := u.wantedOn(m, is)
	if is.Size != m.Size {
		return replaced, append([]string{fmt.Sprintf("%s → %s", fsys.FormatSize(is.Size), fsys.FormatSize(m.Size))}, words...), nil
	}
	equal, err := u.sameContent(ctx, name, is, m)
	if err != nil {
		return same, nil, err
	}
	if !equal {
		return replaced, append([]string{"content"}, words...), nil
	}
	return dressedIf(words), words, nil
}

// sameContent compares a file with a member of the same size. Where the archive has a sum of the content nothing is
// unpacked for it.
func (u *Unpacking) sameContent(ctx context.Context, name string, is fsys.Entry, m *fsys.Member) (bool, error) {
	there, err := u.openThere(name, is)
	if err != nil {
		return false, err
	}
	defer func() { _ = there.Close() }() // it was only read
	// The checksum of the archive is enough to say that they are equal, and saves unpacking.
	if m.HasCRC {
		h := crc32.NewIEEE()
		_, err := io.CopyBuffer(h, fsys.UntilStopped(ctx, there), u.buf)
		return h.Sum32() == m.Crc, err
	}
	packed, err := m.Open()
	if err != nil {
		return false, err
	}
	// One buffer, half for either side.
	half := len(u.buf) / 2
	for left := m.Size; left > 0; {
		n := int(min(left, int64(half)))
		if fault.Stopped(ctx) != "" {
			return false, context.Cause(ctx)
		}
		if _, err := io.ReadFull(packed, u.buf[:n]); err != nil {
			return false, u.ar.Damaged(err)
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

func (u *Unpacking) openThere(name string, is fsys.Entry) (io.ReadCloser, error) {
	at := fsys.Anchored{Path: u.destPath(name), Name: path.Base(name), Overlay: u.Overlay}
	if _, ahead := u.Overlay.Look(at.Path); !ahead {
		var err error
		if at.Dir, err = u.openDirectory(name); err != nil {
			return nil, err
		}
	}
	return at.Open(is)
}

// Bounds of the contents that are kept for later steps of a dry run, in bytes and in files.
const (
	keptLimit = 16 << 20
	keptFiles = 1000
)

// keepContent holds the content of a small member, so that later steps of a dry run can look into it.
func (u *Unpacking) keepContent(name string, m *fsys.Member) error {
	if u.Overlay == nil || m.Kind != fsys.Regular || m.Size > fsys.DiffLimit || u.kept+m.Size > keptLimit || len(u.contents) == keptFiles {
		return nil
	}
	packed, err := m.Open()
	if err != nil {
		return err
	}
	// One byte more than announced shows that the archive lies about the size.
	data, err := io.ReadAll(io.LimitReader(packed, m.Size+1))
	if err != nil || int64(len(data)) != m.Size {
		return u.ar.Damaged(err)
	}
	u.contents[name] = data
	u.kept += m.Size
	// The stream can be read only once, and the comparison still needs it.
	m.Open = func() (io.Reader, error) { return bytes.NewReader(data), nil }
	return nil
}

// predictFiles tells later steps of a dry run what would be unpacked. Of an archive with very many members it tells the
// beginning.
func (u *Unpacking) predictFiles(f *fsys.Overlay) {
	for i := range min(len(u.list), keptFiles) {
		p := &u.list[i]
		path := u.destPath(p.name)
		if p.state == same {
			continue
		}
		if p.ahead == nil { // only what is in it is in the archive
			w, _ := u.attrs.ForNew(fsys.Directory)
			f.Put(path, fsys.Predicted{Entry: w.Entry(fsys.Directory), Fresh: true})
			continue
		}
		if p.state == dressed {
			f.Own(path, p.ahead.was, p.ahead.shall)
			continue
		}
		at := fsys.Predicted{Entry: p.ahead.shall.Entry(p.kind), Fresh: p.kind == fsys.Directory}
		name := p.name
		if p.kind == fsys.HardLink {
			name, at.Kind, at.Twin = p.ahead.target, fsys.Regular, f.Leads(u.destPath(p.ahead.target))
		}
		data, known := u.contents[name]
		switch {
		case p.kind == fsys.Link:
			at.Target = p.ahead.target
		case at.Kind == fsys.Regular && known:
			at.From = fsys.Source{Data: data, Size: int64(len(data))}
		case p.kind != fsys.Directory:
			// Its content was too large to keep: it is there, but later steps cannot look into it.
			at.Kind = fsys.Other
		}
		f.Put(path, at)
	}
}

// hardDiffers compares a hard link. It may only be to a file that the archive itself has before it: another one could be
// anybody's.
func (u *Unpacking) hardDiffers(name string, is fsys.Entry, m *fsys.Member) (state, []string, error) {
	to, err := u.nameOf(m.Target)
	if err != nil {
		return same, nil, err
	}
	i, ok := u.index[to]
	if !ok || to == name || u.list[i].member < 0 || u.list[i].kind != fsys.Regular && u.list[i].kind != fsys.HardLink {
		return same, nil, fmt.Errorf("%s: %s is a hard link to %s, which is not a file that is unpacked before it", u.ar.Path,
			fsys.Quoted(name), fsys.Quoted(m.Target))
	}
	words := []string{"hard link to " + fsys.Quoted(to)}
	if is.Kind == fsys.Absent {
		return fresh, words, nil
	}
	// Its target gets a new inode, so the link must be made again.
	if st := u.list[i].state; st == fresh || st == replaced {
		return replaced, words, nil
	}
	there, err := u.lookAt(to)
	if err != nil {
		return same, nil, err
	}
	if os.SameFile(there.Info, is.Info) {
		return same, nil, nil
	}
	return replaced, words, nil
}

// wantedOf is the mode and the owners that a member gives. Ids that it leaves open are -1.
func (u *Unpacking) wantedOf(m *fsys.Member) fsys.Wanted {
	w := fsys.Wanted{Mode: m.Mode & 0o777, UID: u.attrs.UID, GID: u.attrs.GID}
	root := os.Geteuid() == 0
	switch {
	case m.Kind == fsys.Directory && m.Mode == 0:
		w.Mode = 0o755 &^ fsys.Umask()
	case m.Mode == 0 && m.HasCRC: // a zip archive from a system without modes
		w.Mode = 0o644 &^ fsys.Umask()
	// As root tar gives the mode as it is, as a user less the umask.
	case !root:
		w.Mode &^= fsys.Umask()
	}
	if m.Kind == fsys.Directory {
		// Of the special bits only the sticky one is taken over, and only for directories: it takes rights away.
		w.Mode |= m.Mode & 0o1000
	}
	w.Mode = u.modeOf(w.Mode, m.Kind == fsys.Directory)
	if root && !u.args.OwnFiles && w.UID < 0 && m.UID >= 0 {
		w.UID = u.findID("u"+m.Owner, m.UID, u.Overlay.UserID)
	}
	if root && !u.args.OwnFiles && w.GID < 0 && m.GID >= 0 {
		w.GID = u.findID("g"+m.Group, m.GID, u.Overlay.GroupID)
	}
	return w
}

func (u *Unpacking) modeOf(base uint32, dir bool) uint32 {
	mode := u.attrs.Mode.Apply(base, dir, fsys.Umask())
	if text := u.attrs.Mode.String(); dir && text != "" && text[0] >= '0' && text[0] <= '9' {
		mode |= mode & 0o444 >> 2
	}
	return mode
}

// findID returns the number of a user or group that an archive names. Who is not known here has the number from there.
func (u *Unpacking) findID(name string, number int, find func(string) (int, error)) int {
	if len(name) == 1 {
		return number
	}
	id, ok := u.ids[name]
	if !ok {
		id = -1
		// A name of digits is a number already, and must not find a user of that name.
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

// wantedOn is what an entry that stays shall have, and in words how that differs. Unless the step gives a mode, setuid and
// the like stay as they are.
func (u *Unpacking) wantedOn(m *fsys.Member, is fsys.Entry) (fsys.Wanted, []string) {
	w := u.wantedOf(m)
	if u.attrs.Mode.IsZero() {
		w.Mode |= is.Mode & 0o7000
	}
	// A link has no mode of its own.
	if is.Kind == fsys.Link {
		w.Mode = is.Mode
	}
	return u.describeMember(w, is)
}

// onDir is the same of a directory that is there already: it keeps its mode and owners, unless the step gives others.
func (u *Unpacking) onDir(is fsys.Entry) (fsys.Wanted, []string) {
	return u.describeMember(fsys.Wanted{Mode: u.modeOf(is.Mode, true), UID: u.attrs.UID, GID: u.attrs.GID}, is)
}

func (u *Unpacking) describeMember(w fsys.Wanted, is fsys.Entry) (fsys.Wanted, []string) {
	var words []string
	if w.UID < 0 {
		w.UID = is.UID
	}
	if w.GID < 0 {
		w.GID = is.GID
	}
	if w.UID != is.UID {
		words = append(words, fmt.Sprintf("owner %s → %s", fsys.UserName(is.UID), fsys.UserName(w.UID)))
	}
	if w.GID != is.GID {
		words = append(words, fmt.Sprintf("group %s → %s", fsys.GroupName(is.GID), fsys.GroupName(w.GID)))
	}
	if w.Mode != is.Mode {
		words = append(words, fmt.Sprintf("mode %04o → %04o", is.Mode, w.Mode))
	}
	// They are set at the end, in all that was unpacked.
	if text := u.attrs.FlagWords(is); text != "" {
		words = append(words, text)
	}
	return w, words
}
