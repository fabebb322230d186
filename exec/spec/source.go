package spec

import (
	"maps"
	"slices"
)

// sourced are arguments that may name what a step is made from, on the machine that moon runs on.
type sourced interface {
	// sourcePath is a path, or "" if the step is made from nothing there.
	sourcePath() string
}

func (a *TemplateArgs) sourcePath() string { return a.Src }
func (a *ScriptArgs) sourcePath() string   { return a.Script }
func (a *CopyArgs) sourcePath() string     { return unlessRemote(a.Src, a.RemoteSrc) }
func (a *PatchArgs) sourcePath() string    { return unlessRemote(a.Src, a.RemoteSrc) }
func (a *AssembleArgs) sourcePath() string { return unlessRemote(a.Src, a.RemoteSrc) }
func (a *URIArgs) sourcePath() string      { return unlessRemote(a.Src, a.RemoteSrc) }
func (a *UnarchiveArgs) sourcePath() string {
	return unlessRemote(a.Src, a.There())
}

func unlessRemote(src string, remote bool) string {
	if remote {
		return ""
	}
	return src
}

// Source is the file or directory on the machine that moon runs on that a step with these arguments is made from; "" if there
// is none. args are what Decode made.
func Source(args any) string {
	switch a := args.(type) {
	case *PluginArgs:
		if a.Plugin.Speaks == SpeaksPython {
			return "" // it is sent as a pack, and only where it is not yet
		}
		return a.Plugin.Path
	case sourced:
		return a.sourcePath()
	}
	return ""
}

// SourceOf is Source for arguments as they are before Decode, some of which may not be known yet: it looks only at those that say
// what the source is.
func (a *Action) SourceOf(raw map[string]any) string {
	src, _ := raw["src"].(string)
	// A value that is a template is unknown here, and so is on which side the source lies.
	remote, known := ParseBool(raw["remote_src"])
	if raw["remote_src"] != nil && !known {
		return ""
	}
	switch a.Name {
	case "template":
		return (&TemplateArgs{Src: src}).sourcePath()
	case "script":
		line, _ := raw["cmd"].(string)
		script, _, _ := cutScript(line)
		return script
	case "copy":
		return (&CopyArgs{Src: src, RemoteSrc: remote}).sourcePath()
	case "patch":
		return (&PatchArgs{Src: src, RemoteSrc: remote}).sourcePath()
	case "uri":
		return (&URIArgs{Src: src, RemoteSrc: remote}).sourcePath()
	case "assemble":
		return (&AssembleArgs{Src: src, RemoteSrc: remote || raw["remote_src"] == nil}).sourcePath()
	case "unarchive":
		copied, known := ParseBool(raw["copy"])
		if raw["copy"] != nil && !known {
			return ""
		}
		return (&UnarchiveArgs{Src: src, RemoteSrc: remote, Copy: copied || raw["copy"] == nil}).sourcePath()
	}
	return ""
}

// FilesOf are the files besides its source that a step reads where it runs, for arguments some of which may not be known yet: those that
// a form of uri sends.
func (a *Action) FilesOf(raw map[string]any) (files []string) {
	body, ok := raw["body"].(map[string]any)
	if a.Name != "uri" || raw["body_format"] != "form-multipart" || !ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		field, _ := body[name].(map[string]any)
		if _, given := field["content"]; given {
			continue
		}
		if file, ok := field["filename"].(string); ok && file != "" {
			files = append(files, file)
		}
	}
	return files
}
