// Package watch waits for files to change, for those who look at them again then.
//
//	files, patterns ──Follow──▶ their directories ──fsnotify──▶ Wait ──▶ which of them have changed
//
// Editors write another file under its name, and a file may not be there yet: so directories are watched, and not files.
package watch
