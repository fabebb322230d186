//go:build !linux

package fsys

func readFlags(int) (uint32, error) { return 0, errNoFlags }

func readVersion(int) (bits, version uint32, err error) { return 0, 0, errNoFlags }

func writeFlags(int, uint32) error { return errNoFlags }
