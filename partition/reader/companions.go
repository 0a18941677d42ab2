package reader

import (
	"errors"
	"path/filepath"
	"strings"
)

// IsCompanion says whether a file's name is that of something which is laid
// beside graph files and holds no edges: a read-me, a licence, documentation,
// checksums, a signature. In folders and patterns such files are skipped, with a
// note; given by their own path they are read. Nothing else is judged by its
// name.
func IsCompanion(name string) bool {
	name = strings.ToLower(filepath.Base(name))
	switch ext := filepath.Ext(name); ext {
	case ".md", ".rst", ".html", ".htm", ".pdf", ".bib", ".crc", ".md5", ".sha1", ".sha256", ".sha512", ".sig", ".asc":
		return true
	case "", ".txt":
		switch strings.TrimSuffix(name, ext) {
		case "license", "licence", "copying", "notice", "changelog", "makefile",
			"md5sum", "md5sums", "sha1sums", "sha256sum", "sha256sums", "sha512sums", "checksums":
			return true
		}
	}
	return name == "readme" || strings.HasPrefix(name, "readme.") || name == "thumbs.db" || name == "desktop.ini"
}

// withoutCompanions takes companions out, unless nothing else is there. Beside KONECT's
// out.NAME those are also meta.NAME and ent.NAME.
func withoutCompanions(paths []string) (parts, companions []string) {
	konect := map[string]bool{}
	for _, p := range paths {
		if name, ok := strings.CutPrefix(filepath.Base(p), "out."); ok {
			konect["meta."+name], konect["ent."+name] = true, true
		}
	}
	for _, p := range paths {
		if IsCompanion(p) || konect[filepath.Base(p)] {
			companions = append(companions, p)
		} else {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return companions, nil
	}
	return parts, companions
}

const (
	companionWhy = "read-me, licence, checksum and the like; give them by name if they hold edges"
	hiddenWhy    = "names that begin with . or _"
)

// skippedNote says what was left out of a folder or a pattern, by name; of many
// (Spark writes a checksum for each part) the first and their number.
func skippedNote(where, why string, names []string) string {
	const shown = 20
	var bare []string
	for _, n := range names[:min(len(names), shown)] {
		bare = append(bare, filepath.Base(n))
	}
	if more := len(names) - shown; more > 0 {
		bare = append(bare, "and "+plural(int64(more), "other"))
	}
	return "skipped in " + where + ": " + strings.Join(bare, ", ") + " (" + why + ")"
}

// stray adds to an error about a file that a folder or a pattern brought in how
// to leave it out: by a pattern of the ending that most of the others have.
func (r *Reader) stray(in *input, err error) error {
	count := map[string]int{}
	for _, other := range r.inputs {
		if other != in && other.from == in.from {
			count[filepath.Ext(other.name)]++
		}
	}
	if in.from == "" || len(count) == 0 {
		return err
	}
	best := ""
	for ext, n := range count {
		if best == "" || n > count[best] || n == count[best] && ext < best {
			best = ext
		}
	}
	advice := " If " + filepath.Base(in.name) + " is no part of the graph, give the parts by name"
	if best != "" && best != filepath.Ext(in.name) {
		advice += ", or the pattern '" + filepath.Join(filepath.Dir(in.name), "*"+best) + "'"
	}
	var line *LineError
	var file *FileError
	switch {
	case errors.As(err, &line):
		if line.Remedy == "" {
			line.Remedy = correctLine
		}
		line.Remedy += advice + "."
	case errors.As(err, &file):
		file.Remedy = strings.TrimPrefix(file.Remedy+advice+".", " ")
	}
	return err
}
