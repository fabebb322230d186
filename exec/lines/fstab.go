package lines

import (
	"slices"
	"strings"

	"moon/exec/spec"
)

// fstabEscapes are the characters that a field of fstab has as octal numbers.
var fstabEscapes = strings.NewReplacer(`\`, `\134`, " ", `\040`, "&", `\046`)

// mountEntry finds the fields of a line that is the entry of a mount. Swap space has no path, so what it is on counts.
func mountEntry(line string, args *spec.MountArgs) (fields []string, ok bool) {
	fields = strings.Fields(line)
	// The last two fields may be missing.
	if len(fields) < 4 || len(fields) > 6 || strings.HasPrefix(fields[0], "#") || fields[1] != fstabEscapes.Replace(args.Path) {
		return nil, false
	}
	return fields, fields[1] != "none" || fields[2] != "swap" || args.Src == "" || fields[0] == fstabEscapes.Replace(args.Src)
}

// PutMount sets the entry of a mount in an fstab, whose other lines stay.
func PutMount(text string, args *spec.MountArgs) Edited {
	d := Read(text)
	fields := []string{args.Src, args.Path, args.FSType, args.Opts, args.Dump, args.Passno}
	for i := range fields {
		fields[i] = fstabEscapes.Replace(fields[i])
	}
	wanted := strings.Join(fields, " ")
	found, says := false, ""
	for i := range d.Lines {
		is, ok := mountEntry(d.Line(i), args)
		if !ok {
			continue
		}
		found = true
		// Columns may be aligned: blanks alone make no difference.
		if strings.Join(is, " ") != wanted {
			d.Put(i, i+1, wanted)
			says = "entry changed"
		}
	}
	if !found {
		d.Put(len(d.Lines), len(d.Lines), wanted)
		says = "entry added"
	}
	if says != "" {
		d.Open = false // mount reads lines only
	}
	return Edited{Text: d.String(), Says: says, Created: !found}
}

// RemoveMount takes the entry of a mount out of an fstab.
func RemoveMount(text string, args *spec.MountArgs) Edited {
	d := Read(text)
	says := ""
	for i := range slices.Backward(d.Lines) {
		if _, ok := mountEntry(d.Line(i), args); ok {
			d.Put(i, i+1)
			says = "entry removed"
		}
	}
	return Edited{Text: d.String(), Says: says}
}
