package spec

import "reflect"

// StatArgs are the arguments of stat.
type StatArgs struct {
	Path          string `arg:"path,dest,name" kind:"path" need:"yes" doc:"What to look at."`
	Follow        bool   `arg:"follow" default:"false" doc:"Follow a link, instead of looking at the link itself."`
	GetChecksum   bool   `arg:"get_checksum" default:"true" doc:"Read a file for its checksum."`
	Algorithm     string `arg:"checksum_algorithm,checksum_algo,checksum" default:"sha1" enum:"md5|sha1|sha224|sha256|sha384|sha512" doc:"Which checksum."`
	GetMD5        bool   `arg:"get_md5" default:"false" doc:"Read a file for its MD5, too."`
	GetMime       bool   `arg:"get_mime,mime,mime_type,mime-type" default:"false" doc:"Ask the program file for the type of the content; unknown if it is not installed."`
	GetAttributes bool   `arg:"get_attributes,attr,attributes" default:"true" doc:"Look at the attributes of a file or a directory in its file system, as lsattr does."`
}

var _ = declareAction(&Action{
	Name:  "stat",
	Doc:   "Looks at a file, directory or link, and changes nothing. If it does not exist, that is not an error.",
	Check: true,
	args:  reflect.TypeFor[StatArgs](),
	Returns: []Return{
		{"stat.exists", "Whether there is something. If not, there is nothing else in stat."},
		{"stat.path", "The path."},
		{"stat.isreg", "Whether it is a file. So also isdir, islnk, isfifo, issock, isblk and ischr."},
		{"stat.mode", "Its mode, as 0644. Its bits also as rusr, wusr, xusr, rgrp, wgrp, xgrp, roth, woth, xoth, isuid and isgid."},
		{"stat.uid", "Id of its owner."},
		{"stat.gid", "Id of its group."},
		{"stat.pw_name", "Name of its owner."},
		{"stat.gr_name", "Name of its group."},
		{"stat.size", "Its size in bytes."},
		{"stat.mtime", "When its content changed, in seconds since 1970. So also atime and ctime."},
		{"stat.inode", "Its inode. Also dev, nlink, blocks and block_size."},
		{"stat.checksum", "The checksum of a file that can be read."},
		{"stat.md5", "With get_md5, the MD5 of such a file."},
		{"stat.lnk_target", "What a link says."},
		{"stat.lnk_source", "The path that a link leads to in the end."},
		{"stat.attributes", "Names of its attributes in the file system, such as immutable. Only if the file system has attributes and versions."},
		{"stat.attr_flags", "The same as letters, such as ie."},
		{"stat.version", "The version that the file system gives it."},
		{"stat.readable", "Whether moon may read it. So also writeable and executable."},
	},
	Least: "stat: {path: /nowhere/x}",
	Example: `- stat: {path: /etc/nginx/nginx.conf}
  register: conf
- print: "{{ conf.stat.mode }}"
  when: conf.stat.exists
`,
})
