package reader

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const stdinName = "standard input"

// expand turns paths, globs, folders and "-" into the list of inputs, in the
// order given, folders and globs sorted by name. Notes say what was left out.
func expand(paths []string, stdin io.Reader) (ins []*input, notes []string, err error) {
	seen := map[string]bool{}
	add := func(path, from string) {
		if key := identity(path); seen[key] {
			notes = append(notes, path+" is given twice and was read once")
		} else {
			seen[key] = true
			ins = append(ins, &input{name: path, from: from})
		}
	}
	for _, path := range paths {
		if path == "-" {
			if seen["-"] {
				continue
			}
			seen["-"] = true
			if stdin == nil {
				stdin = os.Stdin
			}
			ins = append(ins, &input{name: stdinName, stream: stdin})
			continue
		}
		more, said, err := expandPath(path)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, said...)
		for _, p := range more {
			from := ""
			if p != path {
				from = path
			}
			add(p, from)
		}
	}
	if len(ins) == 0 {
		return nil, nil, &FileError{File: strings.Join(paths, ", "), Byte: -1, Reason: "no input file",
			Remedy: "Give a graph file, a folder of parts, a glob, or - for standard input."}
	}
	return ins, notes, nil
}

// identity names a file whichever path leads to it.
func identity(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	return path
}

func expandPath(path string) ([]string, []string, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return expandFolder(path)
	case err == nil:
		return []string{path}, nil, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, &FileError{File: path, Byte: -1, Reason: "cannot be opened", Err: cause(err)}
	case strings.Contains(path, "://"):
		return nil, nil, &FileError{File: path, Byte: -1, Reason: "is a web or storage address, and graph files are read from disk or standard input",
			Remedy: "Download it first, or pipe it in and give - as the input."}
	case strings.ContainsAny(path, "*?["):
		return expandGlob(path)
	}
	return nil, nil, &FileError{File: path, Byte: -1, Reason: "cannot be opened", Err: cause(err), Remedy: "Check the path."}
}

func expandGlob(pattern string) ([]string, []string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		return nil, nil, &FileError{File: pattern, Byte: -1, Reason: "no file matches this pattern", Err: err, Remedy: "Check the pattern."}
	}
	var paths, notes []string
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, &FileError{File: path, Byte: -1, Reason: "cannot be opened", Err: cause(err)}
		}
		if info.IsDir() {
			notes = append(notes, path+" is a folder and was skipped")
			continue
		}
		paths = append(paths, path)
	}
	sort.Strings(paths)
	parts, companions := withoutCompanions(paths)
	if len(companions) > 0 {
		notes = append(notes, skippedNote(pattern, companionWhy, companions))
	}
	return parts, notes, nil
}

// expandFolder lists the parts in a folder. Names that begin with . or _ are
// markers and checksums (_SUCCESS, .part-0.crc) and are skipped, with a note, as
// are companions and folders.
func expandFolder(folder string) ([]string, []string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, &FileError{File: folder, Byte: -1, Reason: "the folder cannot be read", Err: cause(err)}
	}
	var paths, notes, hidden []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if e.Name()[0] == '.' || e.Name()[0] == '_' {
			hidden = append(hidden, e.Name())
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, &FileError{File: path, Byte: -1, Reason: "cannot be opened", Err: cause(err)}
		}
		if !info.Mode().IsRegular() {
			notes = append(notes, path+" is not a file and was skipped")
			continue
		}
		paths = append(paths, path)
	}
	if len(hidden) > 0 {
		notes = append(notes, skippedNote(folder, hiddenWhy, hidden))
	}
	parts, companions := withoutCompanions(paths)
	if len(companions) > 0 {
		notes = append(notes, skippedNote(folder, companionWhy, companions))
	}
	if len(parts) == 0 || len(companions) == 0 && IsCompanion(parts[0]) {
		reason := "the folder holds no graph file"
		if said := append(notes, parts...); len(said) > 0 {
			reason += " (" + strings.Join(said, "; ") + ")"
		}
		return nil, nil, &FileError{File: folder, Byte: -1, Reason: reason, Remedy: "Give the folder with the parts."}
	}
	return parts, notes, nil
}
